// What the worker reads: asking for it, and when a table may be used.
#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "node/worker/core.h"
#include "node/worker/wait_causes.h"

namespace leeway {

bool WorkerNode::Core::HoldsWithin(const WorkerTable& table, const WorkerBlock& block, Iteration progress,
                                   std::int64_t age_max) {
  const Iteration v_train = table.landing.HeldVTrain(block.index);
  return v_train >= Iteration(-1) && CountOwn(table, v_train, progress) <= age_max;
}

void WorkerNode::Core::RequestBlocks(WorkerTable& table, Iteration progress) {
  const bool exchanged = table.exchanged == progress;
  // Without overlap the questions come after the barrier.
  if (exchanged && !job_.overlap && steps_passed_ < steps_ended_ + (progress == iteration_ ? 1 : 0)) return;
  const TimePoint now = env_.clock.Now();
  for (WorkerBlock& block : table.blocks) {
    const std::optional<std::int64_t> age_max = block.model->rule.cache_age_max;
    const bool fresh = age_max && HoldsWithin(table, block, progress, *age_max);
    if (exchanged && !fresh) {
      block.pull.Ask(progress, now);
      PortOf(block).Touch(block);
    } else if (!block.pull.open()) {
      table.landing.Serve(block.index, progress);
    }
  }
  PublishIfWhole(table);
}

void WorkerNode::Core::WhenUsable(TableId id, Done usable) {
  if (phase_ == Phase::kFailed) return LaterDone(std::move(usable), failure_);
  Result<WorkerTable*> found = FindPlaced(id);
  if (!found.ok()) return LaterDone(std::move(usable), found.status());
  WorkerTable& table = **found;
  const Iteration needed = iteration_ - 1;
  if (table.IsOwnClock()) {
    if (table.pair.ready() >= needed) return LaterDone(std::move(usable), Status::Ok());
    return LaterDone(
        std::move(usable),
        FailedPrecondition("table \"{}\" has a clock of its own: read it with Pull", table.spec.name));
  }
  if (waiters_++ == 0) waiting_since_ = env_.clock.Now();
  table.waiters.push_back({needed, env_.clock.Now(), std::move(usable)});
  table.ended_by = nullptr;
  table.ended_for = kNoWorker;
  LetUse(table);
}

void WorkerNode::Core::EndWait(const WorkerTable* table) {
  if (--waiters_ > 0) return;
  const TimePoint now = env_.clock.Now();
  counters_.wait_ns += static_cast<std::uint64_t>((now - waiting_since_).count());
  NoteBeforeTraining();
  if (table == nullptr) return;
  // Without overlap the others were waited for first, and only then the values.
  TimePoint since = waiting_since_;
  if (!job_.overlap && stepped_at_ > since) {
    WaitCauses::Add(counters_.wait_by_ns, "step", "barrier", stepped_at_ - since);
    since = stepped_at_;
  }
  WorkerBlock* block = table->ended_by;
  if (block == nullptr || now <= since) return;
  if (block->waited_by_server == nullptr) {
    const std::uint32_t server = roster_.shards()[block->shard.index()].server();
    block->waited_by_server = &WaitCauses::Of(counters_.wait_by_ns, "server", std::to_string(server));
    block->waited_by_table = &WaitCauses::Of(counters_.wait_by_ns, "table", block->table->spec.name);
  }
  *block->waited_by_server += static_cast<std::uint64_t>((now - since).count());
  *block->waited_by_table += static_cast<std::uint64_t>((now - since).count());
  block->waited += now - since;
  if (table->ended_for == kNoWorker) return;
  if (waited_for_ != table->ended_for) {
    waited_for_ = table->ended_for;
    waited_by_worker_ = &WaitCauses::Of(counters_.wait_by_ns, "worker", std::to_string(waited_for_.value()));
  }
  *waited_by_worker_ += static_cast<std::uint64_t>((now - since).count());
}

void WorkerNode::Core::NoteBeforeTraining() {
  if (steps_ > 0 || handed_ == iteration_) return;
  training_began_ = step_began_ = env_.clock.Now();
  wait_ns_before_ = counters_.wait_ns;
}

void WorkerNode::Core::PublishIfWhole(WorkerTable& table) {
  const bool published = table.front_lent == 0 && table.landing.PublishIfWhole(iteration_ - 1);
  if (published && partial_.enabled()) {
    for (WorkerBlock& block : table.blocks) block.skipped = 0;
  }
  LetUse(table);
}

void WorkerNode::Core::LetUse(WorkerTable& table) {
  if (table.waiters.empty()) return;
  const auto is_ready = [&table](const WorkerTable::Waiter& waiter) {
    return waiter.needed <= table.pair.ready();
  };
  const auto any_ready = [&] { return std::ranges::any_of(table.waiters, is_ready); };
  if (!any_ready() && !MayUsePartly(table)) return;
  if (WorkerBlock* held = HeldUp(); held != nullptr) {
    table.ended_by = held;
    table.ended_for = kNoWorker;
    return;
  }
  // What has come may say that this iteration is over elsewhere: then a later one is begun instead, for which
  // the table may have to be waited for again, and for which nothing has been left out yet.
  Raise();
  if (!any_ready() && MayUsePartly(table)) UsePartly(table);
  auto& waiters = table.waiters;
  for (WorkerTable::Waiter& waiter : waiters) {
    if (!is_ready(waiter)) continue;
    LaterDone(std::move(waiter.usable), Status::Ok());
    EndWait(&table);
  }
  std::erase_if(waiters, is_ready);
}

void WorkerNode::Core::LetUseAll() {
  if (waiters_ == 0) return;
  ForEachTable([this](WorkerTable& table) { LetUse(table); });
}

bool WorkerNode::Core::MayUsePartly(const WorkerTable& table) const {
  if (!partial_.open() || phase_ != Phase::kMember || table.waiters.empty() || table.front_lent > 0)
    return false;
  const PairLanding& landing = table.landing;
  return std::ranges::none_of(table.blocks, [&](const WorkerBlock& block) {
    if (landing.arrived(block.index) >= iteration_ - 1 || landing.HasNews(block.index)) return false;
    return block.skipped >= partial_.policy().skip_max || landing.published() < Iteration(-1);
  });
}

void WorkerNode::Core::UsePartly(WorkerTable& table) {
  const Iteration needed = iteration_ - 1;
  const PairLanding& landing = table.landing;
  for (WorkerBlock& block : table.blocks) {
    const bool missing = landing.arrived(block.index) < needed;
    if (missing && partial_.policy().late == PullPolicy::Late::kDrop) {
      block.passed = needed;
      block.pull.Drop();
    }
    if (!missing || landing.HasNews(block.index)) {
      block.skipped = 0;
      continue;
    }
    ++block.skipped;
    ++counters_.skipped_blocks;
    table.ended_by = &block;  // the time until here was spent on it
    table.ended_for = kNoWorker;
  }
  table.landing.PublishPartly(needed);
}

void WorkerNode::Core::CountArrived() {
  if (!partial_.enabled() || partial_.reached()) return;
  std::size_t here = 0, all = 0;
  ForEachTable([&](const WorkerTable& table) {
    all += table.blocks.size();
    for (std::size_t i = 0; i < table.blocks.size(); ++i) here += table.landing.arrived(i) >= iteration_ - 1;
  });
  if (!partial_.Reaches(here, all)) return;
  partial_timer_ = env_.timers.After(partial_.policy().tau, [this] { OnPartialTimer(); });
}

void WorkerNode::Core::OnPartialTimer() {
  partial_timer_ = {};
  partial_.Open();
  LetUseAll();
  RunLater();
}

}  // namespace leeway
