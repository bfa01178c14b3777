#include "block/block.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "base/mutation.h"
#include "block/ledger.h"
#include "block/open_sums.h"
#include "block/progress.h"
#include "block/values.h"
#include "block/waiting_pulls.h"
#include "block/window_notes.h"
#include "optimizer/kernels.h"

namespace leeway {

namespace {
// No job gets here; a peer that says so is refused before its arithmetic overflows ours.
constexpr Iteration kIterationEnd{std::int64_t{1} << 62};

// What WhyWaiting says is for people, and goes to the scheduler with every beat.
constexpr std::size_t kWaitersNamed = 3;
constexpr std::size_t kMissingNamed = 8;
constexpr std::size_t kWhyBytesMax = 512;

// "1, 2, 5 and 60 more".
std::string NameSome(const std::vector<WorkerId>& workers) {
  std::vector<std::uint32_t> named;
  for (const WorkerId worker : std::span(workers).first(std::min(workers.size(), kMissingNamed)))
    named.push_back(worker.value());
  const std::string names = fmt::format("{}", fmt::join(named, ", "));
  return workers.size() > named.size() ? fmt::format("{} and {} more", names, workers.size() - named.size())
                                       : names;
}
}  // namespace

class Block::Core {
 public:
  Core(const BlockOptions& options, const SyncPolicy& sync, const Optimizer& optimizer, BufferPool& pool,
       BlockEvents& events)
      : options_(options),
        sync_(sync),
        events_(events),
        aggregate_(options.apply.kind == ApplyMode::Kind::kAggregate),
        late_(sync.late.value_or(aggregate_ ? Late::kDrop : Late::kApply)),
        values_(options.elements, optimizer, pool),
        sums_(options.apply.ordered, pool) {}

  void OnInit(MemberKey from, Term term, BufferRef values, TimePoint now);
  void OnPush(const PushEvent& push, BufferRef gradient, TimePoint now);
  void OnAbsent(const AbsentEvent& absent, TimePoint now);
  void OnPull(const PullEvent& pull, TimePoint now);
  void OnMembers(Epoch epoch, std::span<const MemberState> members, TimePoint now);
  void OnTimer(TimePoint now);
  void OnDisconnected(MemberKey who);
  std::string WhyWaiting() const;
  BlockState Save() const;
  void Load(const BlockState& state);
  void NotifyAt(Iteration iteration);

  const BlockOptions& options() const { return options_; }
  const Progress& progress() const { return progress_; }
  const Values& values() const { return values_; }
  const BlockCounters& counters() const { return counters_; }
  std::size_t waiting() const { return pulls_.size(); }

 private:
  // Whether this push is the next of its life here; if not, says what it is instead.
  bool Admits(MemberKey from, Term term, Seq seq);
  // Whether the push is within the open iterations; if not, notes it and says so.
  bool FitsWindow(const PushEvent& push, TimePoint now);
  void Resume(const AbsentEvent& where, TimePoint now);
  BlockVerdict Take(const PushEvent& push, BufferRef gradient);
  bool IsRefused(const PushEvent& push, const Buffer& gradient, bool late) const;
  // Stores and says the verdict, and does what it frees. The pusher hears of its push before anyone hears of
  // the values.
  void Conclude(MemberKey from, Seq seq, BlockVerdict verdict, TimePoint now);
  void CountVerdict(BlockVerdict verdict);

  void AdvanceWhilePossible(TimePoint now);
  void Fold(Iteration iteration);
  void NotifyIfReached();
  void Release();
  void ReleaseBlocked(TimePoint now);
  void AnswerOrWait(const PullEvent& pull, TimePoint now);
  // Every member has gone. Initial values that are not here by now never come: an observer that waits for
  // them is told that there are none (version 0).
  bool IsDeserted() const { return epoch_ > Epoch(0) && progress_.MembersAt(kIterationEnd) == 0; }
  void Answer(const PullEvent& pull);
  void Say(MemberKey to, Seq seq, BlockVerdict verdict) {
    events_.OnVerdict(options_.id, options_.term, to, seq, verdict, progress_.v_train());
  }
  SyncView View(TimePoint now) const {
    return {.now = now, .v_train = progress_.v_train(), .progress = progress_};
  }

  const BlockOptions options_;
  const SyncPolicy& sync_;
  BlockEvents& events_;
  const bool aggregate_;
  const Late late_;
  Values values_;
  OpenSums sums_;
  Ledger ledger_;
  Progress progress_;
  WaitingPulls pulls_;
  WindowNotes notes_;
  Memory memory_;
  Epoch epoch_{0};
  bool advanced_ = false;  // since the last Release
  Iteration notify_at_ = kIterationMax;
  BlockCounters counters_;
};

void Block::Core::OnInit(MemberKey from, Term term, BufferRef values, TimePoint now) {
  if (term != options_.term) {
    ++counters_.moved;
    Say(from, Seq(0), BlockVerdict::kMoved);
    return;
  }
  const bool counts = !values_.initialized();
  // One value that is not finite would make every later one so.
  const bool spoilt =
      counts && options_.nonfinite == NonFinite::kRefuse && !kernels::AllFinite(values->floats());
  if (values->floats().size() != options_.elements || spoilt) {
    ++counters_.refused;
    Say(from, Seq(0), BlockVerdict::kRefused);
    return;
  }
  if (counts) values_.Initialize(std::move(values));
  Say(from, Seq(0), BlockVerdict::kInitialized);
  ReleaseBlocked(now);
}

bool Block::Core::Admits(MemberKey from, Term term, Seq seq) {
  const Progress::Standing standing = progress_.StandingOf(from);
  // A life that this shard has not heard of comes back when the map and the roster are here.
  if (term != options_.term || standing == Progress::Standing::kStranger) {
    ++counters_.moved;
    Say(from, seq, BlockVerdict::kMoved);
    return false;
  }
  const Ledger::Decision decision = ledger_.Decide(from, seq);
  switch (decision.kind) {
    case Ledger::Decision::Kind::kRepeat:
      ++counters_.repeated;
      Say(from, seq, decision.verdict);
      return false;
    case Ledger::Decision::Kind::kForgotten:
      ++counters_.repeated;
      return false;
    case Ledger::Decision::Kind::kGap:
      ++counters_.gaps;
      Say(from, decision.last, BlockVerdict::kGap);
      return false;
    case Ledger::Decision::Kind::kTake:
      if (standing == Progress::Standing::kMember) return true;
      break;  // its last is set: what it gives now could not count
    case Ledger::Decision::Kind::kFenced:
      break;
  }
  ++counters_.fenced;
  Say(from, seq, BlockVerdict::kFenced);
  return false;
}

void Block::Core::OnPush(const PushEvent& push, BufferRef gradient, TimePoint now) {
  if (!Admits(push.from, push.term, push.seq)) return;
  if (push.iteration >= kIterationEnd) return Conclude(push.from, push.seq, BlockVerdict::kRefused, now);
  if (aggregate_ && !FitsWindow(push, now)) return;
  const BlockVerdict verdict = Take(push, std::move(gradient));
  progress_.Sent(push.from.worker, push.iteration, now);
  Conclude(push.from, push.seq, verdict, now);
}

void Block::Core::OnAbsent(const AbsentEvent& absent, TimePoint now) {
  if (absent.seq == Seq(0)) return Resume(absent, now);
  if (!Admits(absent.from, absent.term, absent.seq)) return;
  if (absent.iteration >= kIterationEnd)
    return Conclude(absent.from, absent.seq, BlockVerdict::kRefused, now);
  progress_.Sent(absent.from.worker, absent.iteration, now);
  Conclude(absent.from, absent.seq, BlockVerdict::kAbsent, now);
}

void Block::Core::Resume(const AbsentEvent& where, TimePoint now) {
  const Progress::Standing standing = progress_.StandingOf(where.from);
  if (where.term != options_.term || standing == Progress::Standing::kStranger) {
    ++counters_.moved;
    return Say(where.from, Seq(0), BlockVerdict::kMoved);
  }
  if (standing == Progress::Standing::kReplaced) {
    ++counters_.fenced;
    return Say(where.from, Seq(0), BlockVerdict::kFenced);
  }
  // What it sent before and is not in the ledger was lost with the owner before: nobody waits for it.
  if (standing == Progress::Standing::kMember && where.iteration < kIterationEnd &&
      !LW_MUTATED(lost_is_awaited)) {
    progress_.Skipped(where.from.worker, where.iteration - 1);
    AdvanceWhilePossible(now);
  }
  ++counters_.resumed;
  Say(where.from, ledger_.LastOf(where.from), BlockVerdict::kGap);
  Release();
}

bool Block::Core::FitsWindow(const PushEvent& push, TimePoint now) {
  const auto beyond = [&] { return push.iteration >= progress_.v_train() + options_.apply.window; };
  if (!beyond()) return true;
  // The push will come again, but nothing before it: its worker is absent from all iterations up to here.
  // Otherwise workers that begin far ahead (a table made late) would all wait for each other.
  progress_.Skipped(push.from.worker, push.iteration - 1);
  AdvanceWhilePossible(now);
  if (!beyond()) return true;
  ++counters_.windows;
  notes_.Add({push.from, push.seq, push.iteration});
  Say(push.from, push.seq, BlockVerdict::kWindow);
  Release();
  return false;
}

bool Block::Core::IsRefused(const PushEvent& push, const Buffer& gradient, bool late) const {
  if (!values_.initialized() || gradient.floats().size() != options_.elements || push.samples == 0)
    return true;
  // An iteration counts once per life.
  if (!late && push.iteration <= progress_.ProgressOf(push.from.worker).value_or(Iteration(-1))) return true;
  // Under immediate the update itself tells.
  return aggregate_ && options_.nonfinite == NonFinite::kRefuse && !kernels::AllFinite(gradient.floats());
}

BlockVerdict Block::Core::Take(const PushEvent& push, BufferRef gradient) {
  const Iteration v_train = progress_.v_train();
  const bool late = push.iteration < std::max(v_train, progress_.FirstOf(push.from.worker));
  if (late && late_ == Late::kDrop) return BlockVerdict::kLateDropped;
  if (IsRefused(push, *gradient, late)) return BlockVerdict::kRefused;
  if (aggregate_) {
    sums_.Add(late ? v_train : push.iteration, push, std::move(gradient));
    return BlockVerdict::kSummed;
  }
  const std::uint32_t members = std::max(progress_.MembersAt(v_train), 1U);
  const bool published = values_.Step({.g = std::as_const(*gradient).floats(),
                                       .lr_scale = 1.0F / static_cast<float>(members),
                                       .hyper = push.hyper,
                                       .publish_nonfinite = options_.nonfinite == NonFinite::kAccept});
  if (!published) return BlockVerdict::kRefused;
  ++counters_.steps;
  return BlockVerdict::kApplied;
}

void Block::Core::Conclude(MemberKey from, Seq seq, BlockVerdict verdict, TimePoint now) {
  ledger_.Record(from, seq, verdict);
  notes_.Drop(from);
  CountVerdict(verdict);
  AdvanceWhilePossible(now);
  Say(from, seq, verdict);
  Release();
}

void Block::Core::CountVerdict(BlockVerdict verdict) {
  switch (verdict) {
    case BlockVerdict::kApplied:
      ++counters_.applied;
      return;
    case BlockVerdict::kSummed:
      ++counters_.summed;
      return;
    case BlockVerdict::kAbsent:
      ++counters_.absent;
      return;
    case BlockVerdict::kLateDropped:
      ++counters_.late_dropped;
      return;
    case BlockVerdict::kRefused:
      ++counters_.refused;
      return;
    default:
      LW_CHECK(false, "verdict {} consumes no sequence", static_cast<int>(verdict));
  }
}

void Block::Core::AdvanceWhilePossible(TimePoint now) {
  while (progress_.MayPass()) {
    const Advance may = sync_.model->MayAdvance(View(now), memory_);
    if (may.kind == Advance::Kind::kNo) return;
    if (may.kind == Advance::Kind::kAt && may.at > now) return events_.OnWakeAt(options_.id, may.at);
    const Iteration before = progress_.v_train();
    Fold(before);
    // Iterations in which nothing differs are passed in one stride, so that a far leap costs no more than a
    // step.
    const Iteration next =
        std::min({progress_.StrideEnd(), sums_.First().value_or(kIterationMax), notify_at_});
    progress_.AdvanceTo(next);
    NotifyIfReached();
    counters_.advances += static_cast<std::uint64_t>(next - before);
    advanced_ = true;
  }
}

void Block::Core::NotifyAt(Iteration iteration) {
  LW_CHECK(progress_.v_train() <= iteration, "block {} is in iteration {}, wanted it at {}",
           options_.id.value(), progress_.v_train().value(), iteration.value());
  notify_at_ = iteration;
  NotifyIfReached();
}

void Block::Core::NotifyIfReached() {
  if (progress_.v_train() != notify_at_) return;
  notify_at_ = kIterationMax;
  events_.OnReached(options_.id);
}

// Applies what was summed for `iteration`. When everyone was absent the optimizer is not run (torch's
// grad=None).
void Block::Core::Fold(Iteration iteration) {
  const std::optional<OpenSums::Closed> closed = sums_.Close(iteration);
  if (!closed) return;
  if (closed->hyper_mismatch) ++counters_.hyper_mismatches;
  const std::uint32_t members = std::max(progress_.MembersAt(iteration), 1U);
  const bool published =
      values_.Step({.g = std::as_const(*closed->sum).floats(),
                    .g_scale = closed->mean_scale,
                    .lr_scale = static_cast<float>(closed->contributors) / static_cast<float>(members),
                    .hyper = closed->hyper,
                    .publish_nonfinite = options_.nonfinite == NonFinite::kAccept});
  ++(published ? counters_.steps : counters_.overflowed);
}

void Block::Core::Release() {
  if (!std::exchange(advanced_, false)) return;
  const Iteration v_train = progress_.v_train();
  const Iteration below = sync_.release == Release::kSoft ? kIterationMax : v_train;
  while (const std::optional<PullEvent> pull = pulls_.TakeDelayedBelow(below)) Answer(*pull);
  while (const auto note = notes_.TakeBelow(v_train + options_.apply.window)) {
    Say(note->from, note->seq, BlockVerdict::kOpen);
  }
}

void Block::Core::ReleaseBlocked(TimePoint now) {
  if (!pulls_.any_blocked() || !(values_.initialized() || IsDeserted())) return;
  for (const PullEvent& pull : pulls_.TakeBlocked()) AnswerOrWait(pull, now);
}

void Block::Core::OnPull(const PullEvent& pull, TimePoint now) {
  if (pull.term != options_.term) {
    ++counters_.moved;
    Say(pull.from, Seq(0), BlockVerdict::kMoved);
    return;
  }
  if (progress_.StandingOf(pull.from) == Progress::Standing::kReplaced) {
    ++counters_.fenced;
    Say(pull.from, Seq(0), BlockVerdict::kFenced);
    return;
  }
  ++counters_.pulls;
  pulls_.Drop(pull.from.worker);
  AnswerOrWait(pull, now);
}

void Block::Core::AnswerOrWait(const PullEvent& pull, TimePoint now) {
  if (epoch_ < pull.epoch_min) return pulls_.Block(pull);
  if (!values_.initialized()) return pull.observer && IsDeserted() ? Answer(pull) : pulls_.Block(pull);
  // One that has left waits for nobody: those it would wait for may be gone as well.
  const bool observer = pull.observer || progress_.StandingOf(pull.from) == Progress::Standing::kGone;
  if (observer) return Answer(pull);
  SyncView view = View(now);
  view.significance = pull.significance;
  view.coin = UnitInterval(Hash64(
      {options_.coin_seed, pull.from.worker.value(), static_cast<std::uint64_t>(pull.progress.value())}));
  if (sync_.model->OnPull(view, memory_, pull.from.worker, pull.progress) == PullVerdict::kNow)
    return Answer(pull);
  if (pulls_.Delay(pull)) ++counters_.delayed;
}

void Block::Core::Answer(const PullEvent& pull) {
  const bool unchanged = pull.cached_version == values_.version();
  ++counters_.answers;
  if (unchanged) ++counters_.unchanged;
  events_.OnAnswer(options_.id, options_.term, pull.from,
                   {.progress = pull.progress,
                    .v_train = progress_.v_train(),
                    .version = values_.version(),
                    .values = unchanged ? nullptr : values_.current()});
}

void Block::Core::OnMembers(Epoch epoch, std::span<const MemberState> members, TimePoint now) {
  if (epoch < epoch_) return;
  epoch_ = epoch;
  const std::vector<MemberKey> ended = progress_.SetMembers(members);
  for (const MemberState& member : members) ledger_.Admit(member.key);
  for (const MemberKey life : ended) notes_.Drop(life);
  if (!LW_MUTATED(dead_not_recounted)) AdvanceWhilePossible(now);
  for (const MemberKey life : ended) {
    const std::optional<PullEvent> pull = pulls_.Take(life);
    if (pull && progress_.StandingOf(life) == Progress::Standing::kGone) AnswerOrWait(*pull, now);
  }
  Release();
  ReleaseBlocked(now);
}

void Block::Core::OnTimer(TimePoint now) {
  AdvanceWhilePossible(now);
  Release();
}

void Block::Core::OnDisconnected(MemberKey who) {
  (void)pulls_.Take(who);
  notes_.Drop(who);
}

std::string Block::Core::WhyWaiting() const {
  const std::vector<PullEvent> waiting = pulls_.List();
  if (waiting.empty()) return "";
  const std::string lacks = NameSome(progress_.Missing());
  std::string why;
  for (const PullEvent& pull : std::span(waiting).first(std::min(waiting.size(), kWaitersNamed))) {
    if (!why.empty()) why += "; ";
    why += fmt::format("worker {} waits with progress {} ", pull.from.worker.value(), pull.progress.value());
    if (!values_.initialized()) {
      why += "for initial values";
    } else if (epoch_ < pull.epoch_min) {
      why += fmt::format("for epoch {} (now {})", pull.epoch_min.value(), epoch_.value());
    } else {
      why +=
          fmt::format("for iteration {} to end, which lacks workers {}", progress_.v_train().value(), lacks);
    }
  }
  if (waiting.size() > kWaitersNamed) why += fmt::format("; {} more wait", waiting.size() - kWaitersNamed);
  if (why.size() > kWhyBytesMax) why.replace(kWhyBytesMax - 3, std::string::npos, "...");
  return why;
}

BlockState Block::Core::Save() const {
  BlockState state;
  values_.Save(state);
  state.progress = progress_.Save();
  if (!LW_MUTATED(ledger_not_saved)) state.ledger = ledger_.Save();
  state.sums = sums_.Save();
  state.memory = memory_;
  return state;
}

void Block::Core::Load(const BlockState& state) {
  LW_CHECK(epoch_ == Epoch(0) && !values_.initialized(), "block {} is in use", options_.id.value());
  values_.Load(state);
  progress_.Load(state.progress);
  ledger_.Load(state.ledger);
  sums_.Load(state.sums);
  memory_ = state.memory;
}

Block::Block(const BlockOptions& options, const SyncPolicy& sync, const Optimizer& optimizer,
             BufferPool& pool, BlockEvents& events)
    : core_(std::make_unique<Core>(options, sync, optimizer, pool, events)) {}
Block::~Block() = default;

void Block::OnInit(MemberKey from, Term term, BufferRef values, TimePoint now) {
  core_->OnInit(from, term, std::move(values), now);
}
void Block::OnPush(const PushEvent& push, BufferRef gradient, TimePoint now) {
  core_->OnPush(push, std::move(gradient), now);
}
void Block::OnAbsent(const AbsentEvent& absent, TimePoint now) { core_->OnAbsent(absent, now); }
void Block::OnPull(const PullEvent& pull, TimePoint now) { core_->OnPull(pull, now); }
void Block::OnMembers(Epoch epoch, std::span<const MemberState> members, TimePoint now) {
  core_->OnMembers(epoch, members, now);
}
void Block::OnTimer(TimePoint now) { core_->OnTimer(now); }
void Block::OnDisconnected(MemberKey who) { core_->OnDisconnected(who); }

BlockState Block::Save() const { return core_->Save(); }
void Block::Load(const BlockState& state) { core_->Load(state); }
void Block::NotifyAt(Iteration iteration) { core_->NotifyAt(iteration); }

Term Block::term() const { return core_->options().term; }
BlockId Block::id() const { return core_->options().id; }
TableId Block::table() const { return core_->options().table; }
std::uint64_t Block::offset() const { return core_->options().offset; }
bool Block::aggregates() const { return core_->options().apply.kind == ApplyMode::Kind::kAggregate; }
std::size_t Block::elements() const { return core_->options().elements; }
Iteration Block::v_train() const { return core_->progress().v_train(); }
Version Block::version() const { return core_->values().version(); }
bool Block::initialized() const { return core_->values().initialized(); }
std::span<const float> Block::values() const {
  if (!initialized()) return {};
  return core_->values().current()->floats();
}
const BlockCounters& Block::counters() const { return core_->counters(); }
std::size_t Block::waiting() const { return core_->waiting(); }
std::string Block::WhyWaiting() const { return core_->WhyWaiting(); }
Iteration Block::FirstOf(WorkerId worker) const { return core_->progress().FirstOf(worker); }
std::vector<WorkerId> Block::Missing() const { return core_->progress().Missing(); }

}  // namespace leeway
