#include "role/policy_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "block/apply_mode.h"
#include "optimizer/optimizers.h"
#include "placement/placements.h"
#include "sync/sync_policy.h"

namespace leeway::app {

std::string KnownSyncModels() { return fmt::format("{}", fmt::join(BuiltinSyncModels().names(), ", ")); }
std::string KnownOptimizers() { return fmt::format("{}", fmt::join(BuiltinOptimizers().names(), ", ")); }
std::string KnownPlacements() { return fmt::format("{}", fmt::join(BuiltinPlacements().names(), ", ")); }

Status CheckSync(const std::string& spec) { return MakeSyncPolicy(BuiltinSyncModels(), spec).status(); }

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
