#include "assembly/assembly.h"

#include <utility>

#include "exchange/exchanges.h"
#include "optimizer/optimizers.h"
#include "placement/placements.h"
#include "sync/sync_policy.h"

namespace leeway {

Policies Policies::Builtin() {
  return {.sync = BuiltinSyncModels(),
          .exchanges = BuiltinExchanges(),
          .optimizers = BuiltinOptimizers(),
          .placements = BuiltinPlacements()};
}

std::unique_ptr<SchedulerNode> MakeScheduler(const SchedulerOptions& options, Env& env,
                                             const Policies& policies,
                                             std::function<void(const Status&)> ended) {
  const SchedulerPolicies borrowed{.sync = policies.sync,
                                   .optimizers = policies.optimizers,
                                   .placements = policies.placements,
                                   .exchanges = policies.exchanges};
  return std::make_unique<SchedulerNode>(options, env, borrowed, std::move(ended));
}

std::unique_ptr<ServerNode> MakeServer(const ServerOptions& options, Env& env, const Policies& policies,
                                       AddressSource scheduler, std::function<void(const Status&)> ended) {
  const ServerPolicies borrowed{.sync = policies.sync, .optimizers = policies.optimizers};
  return std::make_unique<ServerNode>(options, env, borrowed, std::move(scheduler), std::move(ended));
}

std::unique_ptr<WorkerNode> MakeWorker(const WorkerOptions& options, Env& env, const Policies& policies,
                                       AddressSource scheduler, WorkerNodeEvents& events) {
  const WorkerPolicies borrowed{.sync = policies.sync, .exchanges = policies.exchanges};
  return std::make_unique<WorkerNode>(options, env, borrowed, std::move(scheduler), events);
}

}  // namespace leeway
