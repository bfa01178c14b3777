#include "process/condition_rule.h"

#include <fmt/ranges.h>

#include <optional>

#include "base/errors.h"
#include "base/spec.h"
#include "sync/everyone.h"
#include "sync/sync_policy.h"
#include "sync/sync_rules.h"

namespace leeway {

Result<std::string> ConditionRule(const Registry<SyncModel>& models, const char* call, SyncCondition given,
                                  const std::string& tables, const std::string& formula,
                                  std::span<const std::string> syncs) {
  const bool keeps_pull = given == SyncCondition::kPush;
  std::optional<std::string> kept;
  for (const std::string& sync : syncs) {
    LW_ASSIGN_OR_RETURN(const SyncPolicy policy, MakeSyncPolicy(models, sync));
    std::string condition = keeps_pull ? policy.model->PullCondition() : policy.model->PushCondition();
    if (condition == kEveryoneIsIn) condition = "count >= workers";
    const SpecTerm term{.name = "when", .args = {{keeps_pull ? "pull" : "push", condition}}, .inner = {}};
    const bool is_formula = MakeSyncPolicy(models, PrintSpec({{term}})).ok();
    const bool differs = kept && *kept != condition;
    if (!is_formula || differs) {
      return InvalidArgument(
          "{}: tables \"{}\" are under \"{}\", {}; give both conditions at once: SetSync('tables={} "
          "sync=when:pull=\"progress < v_train\",push=\"count >= workers\"')",
          call, tables, fmt::join(syncs, "\" and \""),
          differs ? "whose other condition is not the same"
                  : "whose other condition cannot be kept as a formula",
          tables);
    }
    kept = condition;
  }
  // This worker has no such table: the scheduler reports that.
  if (!kept) kept = keeps_pull ? "progress < v_train" : "count >= workers";
  const std::string& pull = keeps_pull ? *kept : formula;
  const std::string& push = keeps_pull ? formula : *kept;
  SyncRule rule;
  rule.tables = tables;
  rule.sync = PrintSpec({{SpecTerm{.name = "when", .args = {{"pull", pull}, {"push", push}}, .inner = {}}}});
  return ToText(rule);
}

}  // namespace leeway
