#include "node/worker/push_loans.h"

#include "base/errors.h"

namespace leeway {
namespace {

// How often a gradient that a send under way still reads is looked at. Rare: only a resend outlives its
// verdict.
constexpr Duration kDrainPoll = std::chrono::milliseconds(1);

}  // namespace

PushLoans::PushLoans(Timers& timers, DueCallbacks& due, WorkerCounters& counters,
                     std::function<void()> looked)
    : timers_(timers), due_(due), counters_(counters), looked_(std::move(looked)) {}
PushLoans::~PushLoans() { timers_.Cancel(timer_); }

std::shared_ptr<LentPush> PushLoans::Take(const WorkerTable& table, Iteration iteration, std::uint64_t steps,
                                          LentGradient gradient, Done done) {
  std::shared_ptr<LentPush> lent;
  if (spares_.empty()) {
    lent = std::make_shared<LentPush>();
  } else {
    lent = std::move(spares_.back());
    spares_.pop_back();
  }
  lent->table = table.id;
  lent->iteration = iteration;
  lent->steps = steps;
  lent->gradient = std::move(gradient);
  lent->done = std::move(done);
  lent->blocks = lent->blocks_left = table.blocks.size();
  lent->blocks_refused = 0;
  return lent;
}

void PushLoans::OnVerdict(WorkerBlock& block, QueuedPush push, wire::Verdict verdict, Iteration v_train) {
  if (push.lent != nullptr && push.lent->assigns) {
    block.NoteAssigned(push.seq);
    if (verdict == wire::Verdict::kApplied) block.seen = block.term;
    return OnAssigned(block, std::move(push.lent), verdict);
  }
  switch (verdict) {
    case wire::Verdict::kApplied:
      ++counters_.applied;
      block.seen = block.term;
      break;
    case wire::Verdict::kSummed:
      ++counters_.summed;
      block.seen = block.term;
      break;
    case wire::Verdict::kAbsent:
      ++counters_.absent;
      break;
    case wire::Verdict::kLateDropped:
      ++counters_.late_dropped;
      break;
    default:
      ++counters_.refused;
      break;
  }
  if (observer_) observer_(block.table->id, block.id, push.seq, push.iteration, verdict, v_train);
  if (push.lent != nullptr) OnGradient(block, std::move(push.lent), verdict);
}

void PushLoans::OnGradient(const WorkerBlock& block, std::shared_ptr<LentPush> lent, wire::Verdict verdict) {
  if (verdict == wire::Verdict::kRefused) ++lent->blocks_refused;
  if (--lent->blocks_left > 0) return;
  Status outcome;
  if (lent->blocks_refused > 0) {
    outcome = InvalidArgument(
        "table \"{}\": {} of {} blocks of the gradient of iteration {} were refused (a NaN or an infinity in "
        "them, or no initial values yet; or the server has no memory left, and its log says so)",
        block.table->spec.name, lent->blocks_refused, lent->blocks, lent->iteration.value());
  }
  Return(std::move(lent), outcome);
}

void PushLoans::OnAssigned(const WorkerBlock& block, std::shared_ptr<LentPush> lent, wire::Verdict verdict) {
  if (verdict == wire::Verdict::kRefused) ++lent->blocks_refused;
  if (verdict == wire::Verdict::kLateDropped) ++lent->assigns->blocks_late;
  if (--lent->blocks_left > 0) return;
  Status outcome;
  const char* const what = lent->assigns->array == 0 ? "values" : "optimizer's state";
  if (lent->blocks_refused > 0) {
    outcome = InvalidArgument(
        "table \"{}\": the {} of {} of {} blocks were refused: they hold a NaN or an infinity, or the "
        "optimizer \"{}\" has no array {}; or the server has no memory left, and its log says so",
        block.table->spec.name, what, lent->blocks_refused, lent->blocks, block.table->spec.optimizer,
        lent->assigns->array);
  } else if (lent->assigns->blocks_late > 0) {
    outcome = FailedPrecondition(
        "table \"{}\": {} of {} blocks have gone on since this worker read them (under \"{}\" gradients of "
        "others are applied meanwhile, or another server has taken them over), so that setting their {} "
        "would "
        "undo those; set them under bsp, or before the first gradient, and again after a server was replaced",
        block.table->spec.name, lent->assigns->blocks_late, lent->blocks, block.model->sync, what);
  }
  Return(std::move(lent), outcome);
}

void PushLoans::OnInitialized(const WorkerBlock& block, std::shared_ptr<LentPush> lent, bool refused) {
  if (refused) ++lent->blocks_refused;
  if (--lent->blocks_left > 0) return;
  Status outcome;
  if (lent->blocks_refused > 0) {
    outcome = InvalidArgument(
        "table \"{}\": the initial values of {} of {} blocks were refused: they hold a NaN or an infinity, "
        "wanted finite values; or the server has no memory left, and its log says so",
        block.table->spec.name, lent->blocks_refused, lent->blocks);
  }
  Return(std::move(lent), outcome);
}

void PushLoans::Return(std::shared_ptr<LentPush> lent, const Status& status) {
  // The user may free or overwrite the gradient once told. A copy of a resent push may still be on its way
  // out, though its verdict came with the first: wait until nobody else holds it.
  if (lent.use_count() == 1) {
    due_.LaterDone(std::move(lent->done), status);
    return Recycle(std::move(lent));
  }
  draining_.emplace_back(std::move(lent), status);
  if (timer_ == TimerId{}) timer_ = timers_.After(kDrainPoll, [this] { OnTimer(); });
}

void PushLoans::Recycle(std::shared_ptr<LentPush> lent) {
  if (spares_.size() == kSparesMax) return;
  // All else is written anew by the next one.
  lent->gradient.pin = nullptr;
  lent->done = nullptr;
  lent->assigns.reset();
  spares_.push_back(std::move(lent));
}

void PushLoans::OnTimer() {
  timer_ = {};
  std::erase_if(draining_, [this](auto& entry) {
    if (entry.first.use_count() > 1) return false;
    due_.LaterDone(std::move(entry.first->done), entry.second);
    Recycle(std::move(entry.first));
    return true;
  });
  if (!draining_.empty()) timer_ = timers_.After(kDrainPoll, [this] { OnTimer(); });
  looked_();
}

}  // namespace leeway
