#include "launch/sync_text.h"

#include <fmt/format.h>

#include <cstddef>

#include "launch/table_text.h"
#include "role/policy_check.h"

namespace leeway::app {
namespace {

// A screenful or two; --json has them all.
constexpr std::size_t kTablesShown = 40;

std::string ModelOf(const TableOnServer& row) {
  if (row.sync.empty()) return "";
  return fmt::format("{} + {}", row.sync, row.apply.empty() ? DefaultApplyOf(row.sync) : row.apply);
}

std::string VTrainOf(const TableOnServer& row) {
  return row.v_train == row.v_train_max ? fmt::format("{}", row.v_train)
                                        : fmt::format("{}-{}", row.v_train, row.v_train_max);
}

std::string ProgressOf(std::int64_t progress) { return progress < 0 ? "-" : fmt::format("{}", progress); }

void AddRow(const std::string& name, const TableOnServer& row, TableText& table) {
  table.Row({name, fmt::format("s{}", row.server), ModelOf(row), VTrainOf(row), ProgressOf(row.fastest),
             ProgressOf(row.slowest), fmt::format("{}", row.dpr), fmt::format("{:.1f}", row.waited_s),
             fmt::format("{}", row.waiting), row.waiting_for});
}

}  // namespace

std::string SyncText(const JobStatus& status) {
  TableText table({"table", "server", "model", "v_train", "fastest", "slowest", "DPRs", "block-s held",
                   "waiting", "for whom"},
                  TableText::Last::kLeft);
  std::size_t shown = 0;
  std::size_t reported = 0;
  for (const TableStatus& each : status.tables) {
    if (each.servers.empty()) continue;
    if (++reported > kTablesShown) continue;
    ++shown;
    for (const TableOnServer& row : each.servers) AddRow(each.name, row, table);
  }
  for (const TableOnServer& row : status.more_tables)
    AddRow(fmt::format("{} more tables", row.tables), row, table);
  if (shown == 0 && status.more_tables.empty()) return "";
  std::string text = "Synchronization:\n";
  for (const std::string& rule : status.rules) text += fmt::format("  rule: {}\n", rule);
  text += table.Print();
  if (reported > shown)
    text += fmt::format("  and {} tables that are not shown here (--json has them)\n", reported - shown);
  return text;
}

}  // namespace leeway::app
