#include "sync/sync_policy.h"

#include <utility>

#include "base/policy_config.h"

namespace leeway {

std::vector<std::string> SyncPolicyKeys() { return {"release", "late", "scope"}; }

Result<SyncPolicy> MakeSyncPolicy(const Registry<SyncModel>& models, std::string_view text) {
  LW_ASSIGN_OR_RETURN(const PolicyConfig config, PolicyConfig::OfOneTerm(models.kind(), text));
  SyncPolicy policy;
  LW_ASSIGN_OR_RETURN(policy.model, models.Make(config));
  LW_ASSIGN_OR_RETURN(const std::string release, config.KeyedOneOf("release", {"lazy", "soft"}, "lazy"));
  policy.release = release == "soft" ? Release::kSoft : Release::kLazy;
  // No default: the right treatment of a late push depends on the apply mode, which the block knows.
  LW_ASSIGN_OR_RETURN(const std::string late, config.KeyedOneOf("late", {"drop", "apply"}, ""));
  if (!late.empty()) policy.late = late == "apply" ? Late::kApply : Late::kDrop;
  LW_ASSIGN_OR_RETURN(const std::string scope, config.KeyedOneOf("scope", {"job", "server"}, "job"));
  policy.scope = scope == "server" ? CoinScope::kServer : CoinScope::kJob;
  LW_RETURN_IF_ERROR(config.Finish());
  policy.resolved = config.resolved();
  return policy;
}

Result<SyncPolicy> CheckSyncPolicy(const Registry<SyncModel>& models, std::string_view text) {
  LW_ASSIGN_OR_RETURN(SyncPolicy policy, MakeSyncPolicy(models, text));
  LW_RETURN_IF_ERROR(policy.model->Try());
  return policy;
}

Late LateOf(const SyncPolicy& policy, bool aggregates) {
  // Under aggregate a late gradient has no open sum to go into; immediate has no sums.
  return policy.late.value_or(aggregates ? Late::kDrop : Late::kApply);
}

}  // namespace leeway
