// What the worker reads: asking for it, and when a table may be used.
#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "node/worker/core.h"

namespace leeway {

void WorkerNode::Core::RequestBlocks(WorkerTable& table, Iteration progress) {
  const bool exchanged = table.exchanged == progress;
  // Without overlap the questions come after the barrier.
  if (exchanged && step_.HoldsPulls(progress == iteration_)) return;
  const TimePoint now = env_.clock.Now();
  for (WorkerBlock& block : table.blocks) {
    const std::optional<std::int64_t> age_max = block.model->rule.cache_age_max;
    const bool fresh = age_max && table.HoldsWithin(block, progress, *age_max);
    if (exchanged && !fresh) {
      ports_.Pull(block, progress, now);
    } else if (!block.pull.open()) {
      table.landing.Serve(block.index, progress);
    }
  }
  PublishIfWhole(table);
}

void WorkerNode::Core::WhenUsable(TableId id, Done usable) {
  if (phase_ == Phase::kFailed) return due_.LaterDone(std::move(usable), failure_);
  Result<WorkerTable*> found = tables_.FindPlaced(id);
  if (!found.ok()) return due_.LaterDone(std::move(usable), found.status());
  WorkerTable& table = **found;
  const Iteration needed = iteration_ - 1;
  if (table.IsOwnClock()) {
    if (table.pair.ready() >= needed) return due_.LaterDone(std::move(usable), Status::Ok());
    return due_.LaterDone(
        std::move(usable),
        FailedPrecondition("table \"{}\" has a clock of its own: read it with Pull", table.spec.name));
  }
  waits_.Begin(env_.clock.Now());
  table.waiters.push_back({needed, env_.clock.Now(), std::move(usable)});
  table.ended_by = nullptr;
  table.ended_for = kNoWorker;
  LetUse(table);
}

void WorkerNode::Core::EndWait(const WorkerTable* table) {
  const TimePoint now = env_.clock.Now();
  if (!waits_.End(now)) return;
  NoteBeforeTraining();
  if (table == nullptr) return;
  const WorkerBlock* last = table->ended_by;
  waits_.Charge(*table, last == nullptr ? 0 : ports_.servers()[last->shard.index()], step_.passed_at(), now);
}

void WorkerNode::Core::NoteBeforeTraining() {
  if (steps_ == 0 && handed_ != iteration_) waits_.NoteBeforeTraining(env_.clock.Now());
}

void WorkerNode::Core::PublishIfWhole(WorkerTable& table) {
  if (table.front_lent == 0 && table.landing.PublishIfWhole(iteration_ - 1)) partial_.OnWhole(table);
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
  if (!any_ready() && MayUsePartly(table)) partial_.Use(table, iteration_ - 1);
  auto& waiters = table.waiters;
  for (WorkerTable::Waiter& waiter : waiters) {
    if (!is_ready(waiter)) continue;
    due_.LaterDone(std::move(waiter.usable), Status::Ok());
    EndWait(&table);
  }
  std::erase_if(waiters, is_ready);
}

void WorkerNode::Core::LetUseAll() {
  if (waits_.open() == 0) return;
  tables_.ForEachJobClock([this](WorkerTable& table) { LetUse(table); });
}

bool WorkerNode::Core::MayUsePartly(const WorkerTable& table) const {
  return phase_ == Phase::kMember && partial_.MayUse(table, iteration_ - 1);
}

}  // namespace leeway
