#include "status/sync_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/policy_check.h"
#include "terminal/table_text.h"
#include "terminal/wrap_text.h"

namespace leeway::app {
namespace {

constexpr std::size_t kTableColumns = 22, kModelColumns = 17;

// The blocks of a table on the servers that follow the same model.
struct SyncRow {
  std::string table = {};
  std::string model = {};
  std::set<std::uint32_t> servers = {};
  std::int64_t v_train = 0, v_train_max = 0;
  std::uint64_t dpr = 0;
  double waited_s = 0;  // of workers; of the first row of a table
};

// The apply mode too where it is not the model's own.
std::string ModelOf(const TableOnServer& row) {
  if (row.apply.empty() || row.apply == DefaultApplyOf(row.sync)) return row.sync;
  return fmt::format("{} + {}", row.sync, row.apply);
}

void Add(const std::string& name, const std::vector<TableOnServer>& servers, double waited_s,
         std::vector<SyncRow>& rows) {
  const std::size_t first = rows.size();
  for (const TableOnServer& server : servers) {
    const std::string model = ModelOf(server);
    auto row = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(),
                            [&](const SyncRow& each) { return each.model == model; });
    if (row == rows.end()) {
      rows.push_back({.table = name,
                      .model = model,
                      .v_train = server.v_train,
                      .v_train_max = server.v_train_max,
                      .waited_s = rows.size() == first ? waited_s : 0});
      row = rows.end() - 1;
    }
    row->servers.insert(server.server);
    row->v_train = std::min(row->v_train, server.v_train);
    row->v_train_max = std::max(row->v_train_max, server.v_train_max);
    row->dpr += server.dpr;
  }
}

std::vector<SyncRow> RowsOf(const JobStatus& status) {
  std::vector<SyncRow> rows;
  for (const TableStatus& table : status.tables) {
    if (table.own_clock) continue;
    // As workers name their waits: figures have short names.
    constexpr std::size_t kFigureNameBytes = 40;
    const double waited_s = status.OfWorkers("wait.table." + table.name.substr(0, kFigureNameBytes));
    Add(table.name, table.servers, waited_s, rows);
  }
  std::map<std::uint64_t, std::vector<TableOnServer>> more;
  for (const TableOnServer& row : status.more_tables) more[row.tables].push_back(row);
  for (const auto& [tables, servers] : more) Add(fmt::format("{} more tables", tables), servers, 0, rows);
  return rows;
}

// "s0", "s0-3", "s0,2,5".
std::string ServersOf(const SyncRow& row) {
  const std::uint32_t first = *row.servers.begin();
  const std::uint32_t last = *row.servers.rbegin();
  if (row.servers.size() > 1 && last - first + 1 == row.servers.size())
    return fmt::format("s{}-{}", first, last);
  std::string text = "s";
  for (const std::uint32_t server : row.servers)
    text += fmt::format("{}{}", text.size() == 1 ? "" : ",", server);
  return Cut(text, 10);
}

}  // namespace

std::size_t SyncRows(const JobStatus& status) { return RowsOf(status).size(); }

std::string SyncText(const JobStatus& status, std::size_t rows) {
  std::vector<SyncRow> all = RowsOf(status);
  if (all.empty()) return "";
  const std::size_t shown = std::min(rows, all.size());
  if (shown < all.size()) {
    std::ranges::stable_sort(all, [](const SyncRow& a, const SyncRow& b) {
      return a.waited_s != b.waited_s ? a.waited_s > b.waited_s : a.dpr > b.dpr;
    });
  }
  TableText table({"table", "server", "model", "v_train", "DPRs", "waited s"});
  for (std::size_t i = 0; i < shown; ++i) {
    const SyncRow& row = all[i];
    table.Row({CutMiddle(row.table, kTableColumns), ServersOf(row), CutMiddle(row.model, kModelColumns),
               row.v_train == row.v_train_max
                   ? fmt::format("{}", row.v_train)
                   : fmt::format("{}+{}", row.v_train, row.v_train_max - row.v_train),
               fmt::format("{}", row.dpr), fmt::format("{:.1f}", row.waited_s)});
  }
  std::string text = table.Print();
  if (shown < all.size()) text += fmt::format("  ... {} more tables (--json has all)\n", all.size() - shown);
  return text;
}

std::string ServersText(const JobStatus& status) {
  std::string text;
  for (const ShardStatus& shard : status.shards) {
    const std::string name = fmt::format("  s{} shard {}", shard.server, shard.shard);
    if (shard.state != "up") {
      text += fmt::format("{}: {}\n", name, shard.state);
    } else if (shard.report_age_s >= kOldReport_s) {
      text += fmt::format("{}: last report {:.0f} s ago\n", name, shard.report_age_s);
    }
  }
  return text;
}

}  // namespace leeway::app
