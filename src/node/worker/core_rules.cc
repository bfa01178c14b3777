// What the models of the blocks have the worker do by itself: skip ahead, and hold an iteration back.
#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "node/worker/core.h"

namespace leeway {

void WorkerNode::Core::OnSwitch(const wire::pb::TableMap& map) {
  for (const wire::pb::Table& entry : map.tables()) {
    const auto found =
        std::ranges::find_if(tables_.all(), [&entry](const std::unique_ptr<WorkerTable>& table) {
          return table->state == WorkerTable::State::kPlaced && table->spec.name == entry.name();
        });
    // One that this worker has not, or has asked for: the answer to that tells.
    if (found == tables_.all().end()) continue;
    const Status taken = rules_.TakeModels(**found, entry, job_.sync, ports_.servers());
    if (!taken.ok()) return Fail(taken);
  }
  CountRules();
  LetUseAll();
}

void WorkerNode::Core::CountRules() {
  rules_.Count(tables_, phase_ == Phase::kMember);
  events_.OnGated(rules_.any_skips() || rules_.any_bounded());
}

WorkerBlock* WorkerNode::Core::HeldUp() const {
  return phase_ == Phase::kMember ? rules_.HeldUp(tables_, iteration_) : nullptr;
}

bool WorkerNode::Core::Raise() {
  if (phase_ != Phase::kMember || handed_ == iteration_) return false;
  const Iteration lowest = rules_.LowestTold(tables_);
  if (lowest <= iteration_ || lowest == kIterationMax) return false;
  counters_.iterations_skipped += static_cast<std::uint64_t>(lowest - iteration_);
  iteration_ = lowest;
  events_.OnIteration(iteration_);
  const Iteration before = iteration_ - 1;
  const bool ask = !step_.behind();  // else after the barrier
  tables_.ForEachJobClock([&](WorkerTable& table) {
    for (WorkerBlock& block : table.blocks) {
      // Others may wait here for the iterations that are left out, and this worker for them.
      if (block.told < iteration_) ports_.MarkAbsent(block, before);
      const Iteration oldest = iteration_ - block.model->rule.cache_age_max.value_or(0);
      const bool serves = table.landing.HeldVTrain(block.index) >= oldest || table.exchanged < table.pushed;
      if (!serves && ask) {
        ports_.Pull(block, before, env_.clock.Now());
      } else if (ask && !block.pull.open()) {
        table.landing.Serve(block.index, before);
      }
    }
    if (table.exchanged == table.pushed) table.exchanged = before;
    table.pushed = before;
    for (WorkerTable::Waiter& waiter : table.waiters) waiter.needed = before;
  });
  partial_.Begin();
  partial_.CountArrived(tables_, before);
  tables_.ForEachJobClock([this](WorkerTable& table) { PublishIfWhole(table); });
  ports_.Flush();
  return true;
}

}  // namespace leeway
