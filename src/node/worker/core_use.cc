// What the worker reads: asking for it, and when a table may be used.
#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "node/worker/core.h"
#include "node/worker/wait_causes.h"

namespace leeway {

void WorkerNode::Core::RequestBlocks(WorkerTable& table, Iteration progress) {
  const bool exchanged = table.exchanged == progress;
  // Without overlap the questions come after the barrier.
  if (exchanged && !job_.overlap && steps_passed_ < steps_ended_ + (progress == iteration_ ? 1 : 0)) return;
  for (WorkerBlock& block : table.blocks) {
    const std::optional<std::int64_t> age_max = block.model->rule.cache_age_max;
    const bool fresh = age_max && table.landing.HeldVTrain(block.index) >= progress + 1 - *age_max;
    if (exchanged && !fresh) {
      block.pull.Ask(progress, env_.clock.Now());
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
  last_heard_ = nullptr;
  LetUse(table);
}

void WorkerNode::Core::EndWait() {
  if (--waiters_ > 0) return;
  const Duration waited = env_.clock.Now() - waiting_since_;
  counters_.wait_ns += static_cast<std::uint64_t>(waited.count());
  if (last_heard_ == nullptr) return;
  const std::uint32_t server = roster_.shards()[last_heard_->shard.index()].server();
  WaitCauses::Add(counters_.wait_by_ns, "server", std::to_string(server), waited);
  WaitCauses::Add(counters_.wait_by_ns, "table", last_heard_->table->spec.name, waited);
}

void WorkerNode::Core::PublishIfWhole(WorkerTable& table) {
  if (table.landing.PublishIfWhole(iteration_ - 1)) {
    for (WorkerBlock& block : table.blocks) block.skipped = 0;
  }
  LetUse(table);
}

void WorkerNode::Core::LetUse(WorkerTable& table) {
  if (table.waiters.empty() || HeldUp() != nullptr) return;
  const auto is_ready = [&table](const WorkerTable::Waiter& waiter) {
    return waiter.needed <= table.pair.ready();
  };
  if (std::ranges::none_of(table.waiters, is_ready) && !UsePartly(table)) return;
  // What has come may say that this iteration is over elsewhere: then a later one is begun instead, for which
  // the table may have to be waited for again.
  Raise();
  auto& waiters = table.waiters;
  for (WorkerTable::Waiter& waiter : waiters) {
    if (!is_ready(waiter)) continue;
    LaterDone(std::move(waiter.usable), Status::Ok());
    EndWait();
  }
  std::erase_if(waiters, is_ready);
}

void WorkerNode::Core::LetUseAll() {
  if (waiters_ == 0) return;
  ForEachTable([this](WorkerTable& table) { LetUse(table); });
}

bool WorkerNode::Core::UsePartly(WorkerTable& table) {
  if (!partial_.open() || phase_ != Phase::kMember) return false;
  const Iteration needed = iteration_ - 1;
  const PairLanding& landing = table.landing;
  const auto is_missing = [&](const WorkerBlock& block) { return landing.arrived(block.index) < needed; };
  const bool may = std::ranges::none_of(table.blocks, [&](const WorkerBlock& block) {
    if (!is_missing(block) || landing.HasNews(block.index)) return false;
    return block.skipped >= partial_.policy().skip_max || landing.published() < Iteration(-1);
  });
  if (!may) return false;
  for (WorkerBlock& block : table.blocks) {
    const bool missing = is_missing(block);
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
    last_heard_ = &block;  // the time until here was spent on it
  }
  table.landing.PublishPartly(needed);
  return true;
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
  last_heard_ = nullptr;
  LetUseAll();
  RunLater();
}

}  // namespace leeway
