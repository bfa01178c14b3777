#include "scenario/check_policies.h"

#include "assembly/assembly.h"
#include "sim/flow/flow_network.h"
#include "sim/sim_env.h"

namespace leeway::scenario {

Status CheckPolicies(const Scenario& scenario) {
  const Policies policies = Policies::Builtin();
  LW_RETURN_IF_ERROR(policies.optimizers.MakeFromSpec(scenario.optimizer).status());
  sim::EventQueue queue;
  sim::FlowNetwork network(queue, {});
  sim::LogRing log(queue);
  sim::Disk disk({}, 1);
  sim::SimEnv env(queue, network, network.AddHost(), disk, log, "scheduler", 1);
  SchedulerOptions options;
  options.job = scenario.job;
  options.job.job = "check";
  options.job.block_bytes -= options.job.block_bytes % 4;  // as a run rounds it
  options.listen = "10.0.0.1:0";
  return MakeScheduler(options, env.env(), policies, [](const Status&) {})->Start();
}

}  // namespace leeway::scenario
