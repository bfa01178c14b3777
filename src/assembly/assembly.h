// Assembly: turns options and an Env into policies and a wired node. The only place that joins names to
// concrete types, for the real and the simulated world.
#pragma once

#include <functional>
#include <memory>

#include "assembly/policies.h"
#include "leeway/env.h"
#include "leeway/options.h"
#include "node/scheduler/scheduler_node.h"
#include "node/server/server_node.h"
#include "node/worker/worker_node.h"

namespace leeway {

// REQUIRES: `policies` outlives the node.
[[nodiscard]] std::unique_ptr<SchedulerNode> MakeScheduler(const SchedulerOptions& options, Env& env,
                                                           const Policies& policies,
                                                           std::function<void(const Status&)> ended);
[[nodiscard]] std::unique_ptr<ServerNode> MakeServer(const ServerOptions& options, Env& env,
                                                     const Policies& policies, AddressSource scheduler,
                                                     std::function<void(const Status&)> ended);
[[nodiscard]] std::unique_ptr<WorkerNode> MakeWorker(const WorkerOptions& options, Env& env,
                                                     const Policies& policies, AddressSource scheduler,
                                                     WorkerNodeEvents& events);

}  // namespace leeway
