#include "node/worker/own_pulls.h"

#include <utility>

#include "base/errors.h"

namespace leeway {

void OwnPulls::Begin(WorkerTable& table, std::span<float> values, Iteration progress, Done done,
                     ShardPorts& ports) {
  table.into.push_back({values, progress, table.blocks.size(), Status::Ok(), std::move(done)});
  if (table.into.size() == 1) ports.Pull(table, progress, clock_.Now());
}

void OwnPulls::OnAnswer(WorkerTable& table, bool has_values, ShardPorts& ports) {
  IntoPull& into = table.into.front();
  if (!has_values) {
    into.outcome = FailedPrecondition(
        "table \"{}\" never got initial values, and nobody is left to give it some", table.spec.name);
  }
  if (--into.blocks_left > 0) return;
  due_.LaterDone(std::move(into.done), into.outcome);
  (void)table.into.pop_front();
  if (table.into.empty()) return;
  ports.Pull(table, table.into.front().progress, clock_.Now());
  ports.Flush();  // its blocks are on other shards as well
}

}  // namespace leeway
