// The calls with which a user changes the synchronization of the job.
#include <fmt/ranges.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "base/spec.h"
#include "process/worker_client.h"
#include "sync/everyone.h"
#include "sync/sync_policy.h"
#include "sync/sync_rules.h"

namespace leeway {
namespace {

// The rule that gives some tables both conditions as formulas.
std::string RuleOf(const std::string& tables, const std::string& pull, const std::string& push) {
  SyncRule rule;
  rule.tables = tables;
  rule.sync = PrintSpec({{SpecTerm{.name = "when", .args = {{"pull", pull}, {"push", push}}, .inner = {}}}});
  return ToText(rule);
}

}  // namespace

Result<std::uint32_t> WorkerClient::SetSync(const std::string& rule) {
  LW_RETURN_IF_ERROR(CheckMember());
  // A text that is no rule need not go to the scheduler.
  LW_RETURN_IF_ERROR(ParseSyncRule(rule).status());
  auto tables =
      std::make_shared<std::uint32_t>(0);  // shared: the call may outlive a wait that ran into its limit
  LW_RETURN_IF_ERROR(CallAndWait(
      [rule, tables](WorkerNode& node, const leeway::Done& done) {
        node.SetSync(rule, [tables, done](const Status& status, std::uint32_t meant) {
          *tables = meant;
          done(status);
        });
      },
      fmt::format("setting the rule \"{}\"", rule)));
  return *tables;
}

Result<std::string> WorkerClient::ConditionOf(const char* call, const std::string& tables, Condition kind) {
  LW_RETURN_IF_ERROR(CheckMember());
  auto syncs = std::make_shared<std::vector<std::string>>();  // shared: as in SetSync
  LW_RETURN_IF_ERROR(CallAndWait(
      [tables, syncs](WorkerNode& node, const leeway::Done& done) {
        *syncs = node.SyncsOf(tables);
        done(Status::Ok());
      },
      call));
  const bool pull = kind == Condition::kPull;
  std::optional<std::string> found;
  for (const std::string& sync : *syncs) {
    LW_ASSIGN_OR_RETURN(const SyncPolicy policy, MakeSyncPolicy(policies_.sync, sync));
    std::string condition = pull ? policy.model->PullCondition() : policy.model->PushCondition();
    if (condition == kEveryoneIsIn) condition = "count >= workers";
    const SpecTerm term{.name = "when", .args = {{pull ? "pull" : "push", condition}}, .inner = {}};
    const bool formula = MakeSyncPolicy(policies_.sync, PrintSpec({{term}})).ok();
    const bool differs = found && *found != condition;
    if (!formula || differs) {
      return InvalidArgument(
          "{}: tables \"{}\" are under \"{}\", {}; give both conditions at once: SetSync('tables={} "
          "sync=when:pull=\"progress < v_train\",push=\"count >= workers\"')",
          call, tables, fmt::join(*syncs, "\" and \""),
          differs ? "whose other condition is not the same"
                  : "whose other condition cannot be kept as a formula",
          tables);
    }
    found = condition;
  }
  // This worker has no such table: the scheduler reports that.
  return found.value_or(pull ? "progress < v_train" : "count >= workers");
}

Result<std::uint32_t> WorkerClient::SetCondPull(const std::string& tables, const std::string& formula) {
  LW_ASSIGN_OR_RETURN(const std::string push, ConditionOf("SetCondPull", tables, Condition::kPush));
  return SetSync(RuleOf(tables, formula, push));
}

Result<std::uint32_t> WorkerClient::SetCondPush(const std::string& tables, const std::string& formula) {
  LW_ASSIGN_OR_RETURN(const std::string pull, ConditionOf("SetCondPush", tables, Condition::kPull));
  return SetSync(RuleOf(tables, pull, formula));
}

}  // namespace leeway
