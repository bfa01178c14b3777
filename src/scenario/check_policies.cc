#include "scenario/check_policies.h"

#include <functional>
#include <utility>

#include "assembly/assembly.h"
#include "base/errors.h"
#include "block/apply_mode.h"
#include "optimizer/make_optimizer.h"
#include "scenario/sync_switches.h"
#include "sim/flow/flow_network.h"
#include "sim/sim_env.h"

namespace leeway::scenario {
namespace {

Status Begin(const JobOptions& job, const Policies& policies) {
  sim::EventQueue queue;
  sim::FlowNetwork network(queue, {});
  sim::LogRing log(queue);
  sim::Disk disk({}, 1);
  sim::SimEnv env(queue, network, network.AddHost(), disk, log, "scheduler", 1);
  SchedulerOptions options;
  options.job = job;
  options.job.job = "check";
  options.job.block_bytes -= options.job.block_bytes % 4;  // as a run rounds it
  options.listen = "10.0.0.1:0";
  return MakeScheduler(options, env.env(), policies, [](const Status&) {})->Start();
}

Status At(const Scenario& scenario, const std::string& key, const Status& why) {
  if (why.ok()) return why;
  // Always kInvalidArgument, whatever the code of `why`: the fault is in the scenario's text.
  return InvalidArgument("{}: {}", KeyWithPlace(scenario, key), why.message());
}

// A rule that comes later must be one that the job could have from the start.
Status CheckSwitches(const Scenario& scenario, const Policies& policies) {
  LW_ASSIGN_OR_RETURN(const std::vector<SyncSwitch> switches, SyncSwitchesOf(scenario));
  JobOptions job = scenario.job;
  for (const SyncSwitch& change : switches) {
    job.rules.push_back(change.rule);
    LW_RETURN_IF_ERROR(At(scenario, "policies.switches", Begin(job, policies)));
  }
  return Status::Ok();
}

}  // namespace

Status CheckPolicies(const Scenario& scenario) {
  const Policies& policies = scenario.policies;
  LW_RETURN_IF_ERROR(
      At(scenario, "training.optimizer", MakeOptimizer(policies.optimizers, scenario.optimizer).status()));
  const JobOptions& said = scenario.job;
  if (NamesRelay(said.apply)) {
    return At(scenario, "policies.apply",
              InvalidArgument("apply \"{}\": simulated workers have no optimizer of their own; use apply "
                              "aggregate, which sends as much",
                              said.apply));
  }
  if (Begin(said, policies).ok()) return CheckSwitches(scenario, policies);
  // Checks one key after the other, each after those that it may depend on: the first failure names the
  // culprit.
  JobOptions job;
  const std::pair<const char*, std::function<void()>> steps[] = {
      {"cluster.workers", [&] { job.workers = said.workers; }},
      {"cluster.servers", [&] { job.servers = said.servers; }},
      {"cluster.shards", [&] { job.shards = said.shards; }},
      {"policies.sync", [&] { job.sync = said.sync; }},
      {"policies.apply", [&] { job.apply = said.apply; }},
      {"policies.overlap", [&] { job.overlap = said.overlap; }},
      {"policies.flush_bytes", [&] { job.flush_bytes = said.flush_bytes; }},
      {"policies.pull_at", [&] { job.pull_at = said.pull_at; }},
      {"policies.pull", [&] { job.pull = said.pull; }},
      {"policies.exchange", [&] { job.exchange = said.exchange; }},
      {"policies.placement", [&] { job.placement = said.placement; }},
      {"policies.block_bytes", [&] { job.block_bytes = said.block_bytes; }},
      {"policies.rules", [&] { job.rules = said.rules; }}};
  for (const auto& [key, set] : steps) {
    set();
    LW_RETURN_IF_ERROR(At(scenario, key, Begin(job, policies)));
  }
  return At(scenario, "policies", Begin(said, policies));
}

}  // namespace leeway::scenario
