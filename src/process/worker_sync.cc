// How a worker's user changes the synchronization of the job.
#include <memory>
#include <utility>

#include "base/errors.h"
#include "base/spec.h"
#include "process/worker_client.h"
#include "sync/sync_rules.h"

namespace leeway {
namespace {

// The rule that gives some tables both conditions as formulas.
std::string RuleOf(const std::string& tables, const SyncConditions& conditions) {
  SyncRule rule;
  rule.tables = tables;
  rule.sync = PrintSpec({{SpecTerm{
      .name = "when", .args = {{"pull", conditions.pull}, {"push", conditions.push}}, .inner = {}}}});
  return ToText(rule);
}

}  // namespace

Result<std::uint32_t> WorkerClient::SetSync(const std::string& rule) {
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
  LW_ASSIGN_OR_RETURN(const std::uint32_t meant, SetSync(RuleOf(tables, conditions)));
  conditions_[tables] = conditions;
  return meant;
}

Result<std::uint32_t> WorkerClient::SetCondPull(const std::string& tables, const std::string& formula) {
  SyncConditions conditions = conditions_[tables];
  conditions.pull = formula;
  return SetConditions(tables, conditions);
}

Result<std::uint32_t> WorkerClient::SetCondPush(const std::string& tables, const std::string& formula) {
  SyncConditions conditions = conditions_[tables];
  conditions.push = formula;
  return SetConditions(tables, conditions);
}

}  // namespace leeway
