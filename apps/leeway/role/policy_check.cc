#include "role/policy_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/errors.h"
#include "block/apply_mode.h"
#include "optimizer/optimizers.h"
#include "placement/placements.h"
#include "sync/exchange_policy.h"
#include "sync/pull_policy.h"
#include "sync/sync_policy.h"
#include "sync/sync_rules.h"
#include "sync/worker_fit.h"

namespace leeway::app {

std::string KnownSyncModels() { return fmt::format("{}", fmt::join(BuiltinSyncModels().names(), ", ")); }
std::string KnownOptimizers() { return fmt::format("{}", fmt::join(BuiltinOptimizers().names(), ", ")); }
std::string KnownPlacements() { return fmt::format("{}", fmt::join(BuiltinPlacements().names(), ", ")); }

Status CheckSync(const std::string& spec) { return MakeSyncPolicy(BuiltinSyncModels(), spec).status(); }

Status CheckPull(const std::string& spec) { return ParsePullPolicy(spec).status(); }

Status CheckExchange(const std::string& spec) { return ParseExchangePolicy(spec).status(); }

Status CheckRule(const std::string& text) {
  LW_ASSIGN_OR_RETURN(const SyncRule rule, ParseSyncRule(text));
  return rule.sync.empty() ? Status::Ok() : CheckApply(rule.sync, rule.apply);
}

namespace {

// What a job can have of its own.
Status CheckInJob(const std::string& sync, const JobOptions& job) {
  LW_ASSIGN_OR_RETURN(const SyncPolicy policy, MakeSyncPolicy(BuiltinSyncModels(), sync));
  if (policy.model->WorkersNeeded() > job.workers) {
    return InvalidArgument("sync \"{}\" needs {} workers, got a job of {} (--workers)", sync,
                           policy.model->WorkersNeeded(), job.workers);
  }
  return CheckWorkerFit(*policy.model, sync, job.pull, job.exchange);
}

}  // namespace

Status CheckRules(const JobOptions& job) {
  LW_RETURN_IF_ERROR(CheckInJob(job.sync, job).WithContext("--sync"));
  for (const std::string& text : job.rules) {
    LW_ASSIGN_OR_RETURN(const SyncRule rule, ParseSyncRule(text));
    const std::string named = fmt::format("rule \"{}\"", text);
    if (rule.server && *rule.server >= job.servers) {
      return InvalidArgument("{}: got server {}, wanted 0 to {} (--servers {})", named, *rule.server,
                             job.servers - 1, job.servers);
    }
    if (!rule.sync.empty()) LW_RETURN_IF_ERROR(CheckInJob(rule.sync, job).WithContext(named));
  }
  return Status::Ok();
}

Status CheckPlacement(const std::string& spec) { return BuiltinPlacements().MakeFromSpec(spec).status(); }

std::string DefaultApplyOf(const std::string& sync) {
  const Result<SyncPolicy> policy = MakeSyncPolicy(BuiltinSyncModels(), sync);
  return policy.ok() ? policy->model->DefaultApply() : "";
}

Status CheckApply(const std::string& sync, const std::string& apply) {
  LW_ASSIGN_OR_RETURN(const SyncPolicy policy, MakeSyncPolicy(BuiltinSyncModels(), sync));
  return MakeApplyMode(apply, *policy.model).status();
}

}  // namespace leeway::app
