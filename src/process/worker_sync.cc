// How a worker's user changes the synchronization of the job.
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

std::string SpecOf(const SyncConditions& conditions) {
  return PrintSpec({{SpecTerm{
      .name = "when", .args = {{"pull", conditions.pull}, {"push", conditions.push}}, .inner = {}}}});
}

// The rule that gives some tables both conditions as formulas.
std::string RuleOf(const std::string& tables, const SyncConditions& conditions) {
  SyncRule rule;
  rule.tables = tables;
  rule.sync = SpecOf(conditions);
  return ToText(rule);
}

}  // namespace

Result<std::uint32_t> WorkerClient::SetSync(const std::string& rule) {
  LW_ASSIGN_OR_RETURN(const std::uint32_t meant, SetRule(rule));
  conditions_.clear();  // it may mean any of their tables
  return meant;
}

Result<std::uint32_t> WorkerClient::SetRule(const std::string& rule) {
  LW_RETURN_IF_ERROR(CheckMember());
  // What is no rule at all need not go to the scheduler.
  LW_RETURN_IF_ERROR(ParseSyncRule(rule).status());
  auto tables =
      std::make_shared<std::uint32_t>(0);  // shared: the call may outlive a wait that ran into its limit
  LW_RETURN_IF_ERROR(Block(
      [rule, tables](WorkerNode& node, const leeway::Done& done) {
        node.SetSync(rule, [tables, done](const Status& status, std::uint32_t meant) {
          *tables = meant;
          done(status);
        });
      },
      fmt::format("setting the rule \"{}\"", rule)));
  return *tables;
}

Result<std::uint32_t> WorkerClient::SetConditions(const std::string& tables,
                                                  const SyncConditions& conditions) {
  LW_ASSIGN_OR_RETURN(const std::uint32_t meant, SetRule(RuleOf(tables, conditions)));
  conditions_[tables] = conditions;
  return meant;
}

Result<SyncConditions> WorkerClient::ConditionsOf(const char* call, const std::string& tables) {
  LW_RETURN_IF_ERROR(CheckMember());
  if (const auto set = conditions_.find(tables); set != conditions_.end()) return set->second;
  auto syncs = std::make_shared<std::vector<std::string>>();  // shared: as in SetRule
  LW_RETURN_IF_ERROR(Block(
      [tables, syncs](WorkerNode& node, const leeway::Done& done) {
        *syncs = node.SyncsOf(tables);
        done(Status::Ok());
      },
      call));
  std::optional<SyncConditions> found;
  for (const std::string& sync : *syncs) {
    LW_ASSIGN_OR_RETURN(const SyncPolicy policy, MakeSyncPolicy(policies_.sync, sync));
    SyncConditions conditions{policy.model->PullCondition(), policy.model->PushCondition()};
    if (conditions.push == kEveryoneIsIn) conditions.push = "count >= workers";
    const bool formulas = MakeSyncPolicy(policies_.sync, SpecOf(conditions)).ok();
    const bool differs = found && (found->pull != conditions.pull || found->push != conditions.push);
    if (!formulas || differs) {
      return InvalidArgument(
          "{}: tables \"{}\" are under \"{}\", {}; give both conditions at once: SetSync('tables={} "
          "sync=when:pull=\"progress < v_train\",push=\"count >= workers\"')",
          call, tables, fmt::join(*syncs, "\" and \""),
          differs ? "whose other condition is not the same"
                  : "whose other condition cannot be kept as a formula",
          tables);
    }
    found = conditions;
  }
  // No table of this worker's: the scheduler says what is wrong with that.
  return found.value_or(SyncConditions{"progress < v_train", "count >= workers"});
}

Result<std::uint32_t> WorkerClient::SetCondPull(const std::string& tables, const std::string& formula) {
  LW_ASSIGN_OR_RETURN(SyncConditions conditions, ConditionsOf("SetCondPull", tables));
  conditions.pull = formula;
  return SetConditions(tables, conditions);
}

Result<std::uint32_t> WorkerClient::SetCondPush(const std::string& tables, const std::string& formula) {
  LW_ASSIGN_OR_RETURN(SyncConditions conditions, ConditionsOf("SetCondPush", tables));
  conditions.push = formula;
  return SetConditions(tables, conditions);
}

}  // namespace leeway
