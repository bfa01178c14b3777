#include "launch/account_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "launch/table_text.h"

namespace leeway::app {
namespace {

using ByName = std::map<std::string, double>;

// Sums of the figures that begin with `prefix`, by what follows it.
template <typename Nodes>
ByName Gather(const Nodes& nodes, const std::string& prefix) {
  ByName sums;
  for (const auto& node : nodes) {
    for (auto at = node.figures.lower_bound(prefix);
         at != node.figures.end() && at->first.starts_with(prefix); ++at) {
      sums[at->first.substr(prefix.size())] += at->second;
    }
  }
  return sums;
}

// Counts by age; a name that is no number does not count.
std::map<int, double> ByAge(const ByName& counts) {
  std::map<int, double> ages;
  for (const auto& [name, count] : counts) {
    int age = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), age);
    if (error == std::errc{} && end == name.data() + name.size()) ages[age] += count;
  }
  return ages;
}

std::string InSeconds(double value) { return fmt::format("{:.1f} s", value); }
std::string AsCount(double value) { return fmt::format("{:.0f}", value); }

// The largest first, a few of them: "s1 12.3 s, s0 0.4 s".
std::string Largest(const ByName& values, const std::string& before,
                    std::string (*show)(double) = InSeconds) {
  constexpr std::size_t kShown = 8;
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [name, value] : values) sorted.emplace_back(value, name);
  std::ranges::sort(sorted, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(sorted.size(), kShown); ++i) {
    const auto& [value, name] = sorted[i];
    const bool others = name == "others";
    text += fmt::format("{}{}{} {}", i == 0 ? "" : ", ", others ? "" : before, name, show(value));
  }
  if (sorted.size() > kShown) text += fmt::format(", and {} more", sorted.size() - kShown);
  return text;
}

double Total(const ByName& values) {
  double sum = 0;
  for (const auto& [name, value] : values) sum += value;
  return sum;
}

// "0: 91 %, 1: 8 %, 16+: 1 %", of ages that came up.
std::string AgesText(const std::map<int, double>& ages) {
  constexpr int kLastBucket = 16;
  double all = 0;
  for (const auto& [age, count] : ages) all += count;
  std::string text;
  for (const auto& [age, count] : ages) {
    text += fmt::format("{}{}{}: {:.3g} %", text.empty() ? "" : ", ", age, age >= kLastBucket ? "+" : "",
                        100 * count / all);
  }
  return text;
}

// Of workers and of shards: the figure and how people call it.
constexpr std::array<std::pair<const char*, const char*>, 7> kOfWorkers{
    {{"skipped_late", "late pushes not sent"},
     {"skipped_blocks", "blocks skipped"},
     {"iterations_skipped", "iterations skipped"},
     {"exchanges_skipped", "exchanges skipped"},
     {"copied_gradients", "gradients copied into the arena"},
     {"rebound_parameters", "parameters put back into the arena"},
     {"overwritten_parameters", "parameters changed in place and overwritten"}}};
constexpr std::array<std::pair<const char*, const char*>, 6> kOfShards{
    {{"dpr", "DPRs (per shard)"},
     {"late_applied", "late pushes applied"},
     {"late_dropped", "late pushes dropped"},
     {"absent", "absent pushes"},
     {"compensated", "delay-compensated pushes"},
     {"switches", "switches of blocks"}}};

template <typename Add>
void ForEachCount(const JobStatus& status, Add add) {
  for (const auto& [figure, name] : kOfShards) add(figure, name, status.OfShards(figure));
  for (const auto& [figure, name] : kOfWorkers) add(figure, name, status.OfWorkers(figure));
}

// How long pulls were held up, each in each of its blocks. No time of anybody's: pulls wait side by side.
ByName HeldByTable(const JobStatus& status) {
  ByName by_table;
  for (const TableStatus& table : status.tables) {
    for (const TableOnServer& row : table.servers) {
      if (row.waited_s > 0) by_table[table.name] += row.waited_s;
    }
  }
  return by_table;
}

}  // namespace

std::string AccountText(const JobStatus& status) {
  TableText table({"account of the job", ""}, TableText::Last::kLeft);
  std::size_t rows = 0;
  const auto add = [&](const std::string& name, const std::string& text) {
    if (text.empty()) return;
    table.Row({name, text});
    ++rows;
  };
  add("waits by server", Largest(Gather(status.workers, "wait.server."), "s"));
  add("waits by table", Largest(Gather(status.workers, "wait.table."), ""));
  add("waits by block", Largest(Gather(status.workers, "wait.block."), ""));
  if (const double barrier_s = status.OfWorkers("wait.step.barrier"); barrier_s > 0)
    add("waits at barriers of steps", fmt::format("{:.1f} s", barrier_s));
  add("block-seconds that pulls were held up, by table", Largest(HeldByTable(status), ""));
  if (const ByName missing = Gather(status.shards, "waited_for."); Total(missing) > 0) {
    add("block-seconds that pulls were held up for worker", Largest(missing, "w"));
  }
  add("DPRs of worker", Largest(Gather(status.shards, "dpr."), "w", AsCount));
  add("staleness of reads", AgesText(ByAge(Gather(status.shards, "staleness_read."))));
  add("staleness of what was used", AgesText(ByAge(Gather(status.workers, "staleness."))));
  add("staleness of applied pushes", AgesText(ByAge(Gather(status.shards, "staleness_applied."))));
  add("connections to shards, by carrier", Largest(Gather(status.workers, "connected."), "", AsCount));
  std::string counts;
  ForEachCount(status, [&counts](const char*, const char* name, double count) {
    if (count > 0) counts += fmt::format("{}{:.0f} {}", counts.empty() ? "" : ", ", count, name);
  });
  add("counts", counts);
  return rows == 0 ? "" : "\n" + table.Print();
}

nlohmann::json AccountJson(const JobStatus& status) {
  nlohmann::json account;
  account["wait_by_server"] = Gather(status.workers, "wait.server.");
  account["wait_by_table"] = Gather(status.workers, "wait.table.");
  account["wait_by_block"] = Gather(status.workers, "wait.block.");
  account["wait_at_step_barriers_s"] = status.OfWorkers("wait.step.barrier");
  account["held_block_s_by_table"] = HeldByTable(status);
  account["held_block_s_by_worker"] = Gather(status.shards, "waited_for.");
  account["dpr_of_worker"] = Gather(status.shards, "dpr.");
  account["staleness_read"] = Gather(status.shards, "staleness_read.");
  account["staleness_used"] = Gather(status.workers, "staleness.");
  account["staleness_applied"] = Gather(status.shards, "staleness_applied.");
  account["connected_over"] = Gather(status.workers, "connected.");
  ForEachCount(status,
               [&account](const char* figure, const char*, double count) { account[figure] = count; });
  return account;
}

}  // namespace leeway::app
