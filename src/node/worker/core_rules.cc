// What the models of the blocks have the worker do by itself: skip ahead, and hold an iteration back.
#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "node/worker/core.h"

namespace leeway {

Status WorkerNode::Core::TakeModels(WorkerTable& table, const wire::pb::Table& map) {
  const std::string& sync = map.sync().empty() ? job_.sync : map.sync();
  for (WorkerBlock& block : table.blocks) {
    const std::uint32_t server = roster_.shards()[block.shard.index()].server();
    const auto of_server = std::ranges::find_if(
        map.of_servers(), [server](const wire::pb::ServerSync& entry) { return entry.server() == server; });
    const bool own = of_server != map.of_servers().end();
    const std::string& apply = own ? of_server->apply() : map.apply();
    Result<BlockModelRef> model = models_.Find(own ? of_server->sync() : sync, apply);
    if (!model.ok()) {
      return model.status().WithContext(fmt::format("table \"{}\" on server {}", table.spec.name, server));
    }
    block.model = *std::move(model);
  }
  return Status::Ok();
}

void WorkerNode::Core::OnSwitch(const wire::pb::TableMap& map) {
  for (const wire::pb::Table& entry : map.tables()) {
    const auto found = std::ranges::find_if(tables_, [&entry](const std::unique_ptr<WorkerTable>& table) {
      return table->state == WorkerTable::State::kPlaced && table->spec.name == entry.name();
    });
    // One that this worker has not, or has asked for: the answer to that tells.
    if (found == tables_.end()) continue;
    if (const Status taken = TakeModels(**found, entry); !taken.ok()) return Fail(taken);
  }
  CountRules();
  LetUseAll();
}

void WorkerNode::Core::CountRules() {
  any_skips_ = any_bounded_ = false;
  if (phase_ == Phase::kMember) {
    ForEachTable([this](const WorkerTable& table) {
      for (const WorkerBlock& block : table.blocks) {
        any_skips_ = any_skips_ || block.model->rule.skips_ahead;
        any_bounded_ = any_bounded_ || block.model->rule.unsettled_max.has_value();
      }
    });
  }
  events_.OnGated(any_skips_ || any_bounded_);
}

WorkerBlock* WorkerNode::Core::HeldUp() const {
  if (!any_bounded_ || phase_ != Phase::kMember) return nullptr;
  for (WorkerBlock* block : blocks_) {
    if (block == nullptr || block->table->IsOwnClock() || block->pushes.empty()) continue;
    const std::optional<std::int64_t> most = block->model->rule.unsettled_max;
    if (most && CountOwn(*block->table, block->pushes.front().iteration, iteration_ - 1) > *most)
      return block;
  }
  return nullptr;
}

bool WorkerNode::Core::Raise() {
  if (!any_skips_ || phase_ != Phase::kMember || handed_ == iteration_) return false;
  Iteration lowest = kIterationMax;
  ForEachTable([&](const WorkerTable& table) {
    for (const WorkerBlock& block : table.blocks) {
      if (block.model->rule.skips_ahead) lowest = std::min(lowest, block.told);
    }
  });
  if (lowest <= iteration_ || lowest == kIterationMax) return false;
  counters_.iterations_skipped += static_cast<std::uint64_t>(lowest - iteration_);
  iteration_ = lowest;
  events_.OnIteration(iteration_);
  const Iteration before = iteration_ - 1;
  const bool ask = steps_passed_ == steps_ended_;  // else after the barrier
  ForEachTable([&](WorkerTable& table) {
    for (WorkerBlock& block : table.blocks) {
      // Others may wait here for the iterations that are left out, and this worker for them.
      if (block.told < iteration_) MarkAbsent(block, before);
      const Iteration oldest = iteration_ - block.model->rule.cache_age_max.value_or(0);
      const bool serves = table.landing.HeldVTrain(block.index) >= oldest || table.exchanged < table.pushed;
      if (!serves && ask) {
        block.pull.Ask(before, env_.clock.Now());
        PortOf(block).Touch(block);
      } else if (ask && !block.pull.open()) {
        table.landing.Serve(block.index, before);
      }
    }
    if (table.exchanged == table.pushed) table.exchanged = before;
    table.pushed = before;
    for (WorkerTable::Waiter& waiter : table.waiters) waiter.needed = before;
  });
  partial_.Begin();
  env_.timers.Cancel(std::exchange(partial_timer_, {}));
  CountArrived();
  ForEachTable([this](WorkerTable& table) { PublishIfWhole(table); });
  FlushAll();
  return true;
}

}  // namespace leeway
