#include "cli/policy_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/errors.h"
#include "block/apply_mode.h"
#include "exchange/exchanges.h"
#include "node/scheduler/sync_choices.h"
#include "optimizer/optimizers.h"
#include "placement/placements.h"
#include "sync/pull_policy.h"
#include "sync/sync_policy.h"
#include "sync/sync_rules.h"
#include "sync/worker_fit.h"

namespace leeway::app {

std::string KnownSyncModels() { return fmt::format("{}", fmt::join(BuiltinSyncModels().names(), ", ")); }
std::string KnownExchanges() { return fmt::format("{}", fmt::join(BuiltinExchanges().names(), ", ")); }
std::string KnownOptimizers() { return fmt::format("{}", fmt::join(BuiltinOptimizers().names(), ", ")); }
std::string KnownPlacements() { return fmt::format("{}", fmt::join(BuiltinPlacements().names(), ", ")); }

Status CheckSync(const Policies& policies, const std::string& spec) {
  return CheckSyncPolicy(policies.sync, spec).status();
}

Status CheckBuiltinSync(const std::string& spec) {
  return CheckSyncPolicy(BuiltinSyncModels(), spec).status();
}

Status CheckPull(const std::string& spec) { return ParsePullPolicy(spec).status(); }

Status CheckExchange(const Policies& policies, const std::string& spec) {
  return policies.exchanges.MakeFromSpec(spec).status();
}

Check With(const Policies& policies, PolicyCheck check) {
  return [&policies, check](const std::string& spec) { return check(policies, spec); };
}

Status CheckRule(const Policies& policies, const std::string& text) {
  LW_ASSIGN_OR_RETURN(const SyncRule rule, ParseSyncRule(text));
  if (rule.sync.empty()) return Status::Ok();
  return CheckApply(policies, rule.sync, rule.apply).WithContext(fmt::format("rule \"{}\"", text));
}

Status CheckInJob(const Policies& policies, const std::string& sync, const JobOptions& job) {
  LW_ASSIGN_OR_RETURN(const SyncPolicy policy, MakeSyncPolicy(policies.sync, sync));
  if (policy.model->WorkersNeeded() > job.workers) {
    return InvalidArgument("sync \"{}\" needs {} workers, got a job of {}", sync,
                           policy.model->WorkersNeeded(), job.workers);
  }
  if (NamesRelay(job.apply))
    return SyncChoices(job, policies.sync, policies.exchanges).CheckPair(sync, job.apply);
  return CheckWorkerFit(*policy.model, sync, job.pull, job.exchange, policies.exchanges);
}

Status CheckRules(const Policies& policies, const JobOptions& job, std::size_t& which) {
  which = job.rules.size();
  const Status taken = SyncChoices(job, policies.sync, policies.exchanges).TakeJobRules(&which);
  // Every error here is an error in the flags.
  return taken.ok() ? taken : InvalidArgument("{}", taken.message());
}

Status CheckPlacement(const Policies& policies, const std::string& spec) {
  return policies.placements.MakeFromSpec(spec).status();
}

std::string DefaultApplyOf(const std::string& sync) {
  const Result<SyncPolicy> policy = MakeSyncPolicy(BuiltinSyncModels(), sync);
  return policy.ok() ? policy->model->DefaultApply() : "";
}

Status CheckApply(const Policies& policies, const std::string& sync, const std::string& apply) {
  LW_ASSIGN_OR_RETURN(const SyncPolicy policy, CheckSyncPolicy(policies.sync, sync));
  return MakeApplyMode(apply, *policy.model).status();
}

}  // namespace leeway::app
