#include "status/account_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "status/overlap.h"
#include "status/staleness.h"
#include "terminal/table_text.h"
#include "terminal/wrap_text.h"

namespace leeway::app {
namespace {

std::string InSeconds(double value) { return fmt::format("{:.1f} s", value); }
std::string AsCount(double value) { return fmt::format("{:.0f}", value); }

// The largest first, a few of them: "s1 12.3 s, s0 0.4 s". Values that would print as 0 are left out.
std::string Largest(const Figures& values, const std::string& before,
                    std::string (*show)(double) = InSeconds) {
  constexpr std::size_t kShown = 6;
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [name, value] : values) {
    if (show(value) != show(0)) sorted.emplace_back(value, name);
  }
  std::ranges::sort(sorted, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(sorted.size(), kShown); ++i) {
    const auto& [value, name] = sorted[i];
    const bool others = name == "others";
    text +=
        fmt::format("{}{}{} {}", i == 0 ? "" : ", ", others ? "" : before, CutMiddle(name, 30), show(value));
  }
  if (sorted.size() > kShown) text += fmt::format(", and {} more", sorted.size() - kShown);
  return text;
}

double Total(const Figures& values) {
  double sum = 0;
  for (const auto& [name, value] : values) sum += value;
  return sum;
}

// "w3 61.2 s, servers and network 0.4 s": seconds of workers.
std::string WaitsText(const JobStatus& status) {
  const Figures workers = status.OfWorkersBy("wait.worker.");
  std::string text = Largest(workers, "w");
  const std::string rest =
      InSeconds(std::max(Total(status.OfWorkersBy("wait.server.")) - Total(workers), 0.0));
  if (rest != InSeconds(0)) text += fmt::format("{}servers and network {}", text.empty() ? "" : ", ", rest);
  return text;
}

// "mean 3.1, p95 9 (versions)"; empty before the first gradient.
std::string StalenessText(const JobStatus& status) {
  const std::optional<Staleness> staleness = StalenessOf(status);
  if (!staleness) return "";
  return fmt::format("mean {:.1f}, p95 {:.0f} versions, of {:.0f} gradients of blocks", staleness->mean,
                     staleness->p95, staleness->gradients);
}

// "mean 95.7 iterations; 0: 6 %, 1-3: 1 %, 4-15: 5 %, 16+: 88 %", without shares that would print as 0;
// empty where nobody was ahead.
std::string LeadText(const JobStatus& status) {
  const std::optional<double> mean = MeanLead(status);
  double none = 0, some = 0, more = 0, most = 0;
  for (const auto& [lead, count] : CountsByNumber(status.OfShardsBy("lead_read.")))
    (lead == 0 ? none : lead < 4 ? some : lead < 16 ? more : most) += count;
  const double all = none + some + more + most;
  if (!mean || all <= none) return "";
  std::string shares;
  const auto add = [&](const char* lead, double part) {
    const std::string share = AsCount(100 * part / all);
    if (share != AsCount(0)) shares += fmt::format("{} {}: {} %", shares.empty() ? ";" : ",", lead, share);
  };
  add("0", none);
  add("1-3", some);
  add("4-15", more);
  add("16+", most);
  return fmt::format("mean {:.1f} iterations{}", *mean, shares);
}

// Of workers and of shards: the figure and how people call it.
constexpr std::array<std::pair<const char*, const char*>, 8> kOfWorkers{
    {{"resent", "pushes and pulls sent again"},
     {"skipped_late", "late pushes not sent"},
     {"skipped_blocks", "blocks skipped"},
     {"iterations_skipped", "iterations skipped"},
     {"exchanges_skipped", "exchanges skipped"},
     {"copied_gradients", "gradients copied into the arena"},
     {"rebound_parameters", "parameters put back into the arena"},
     {"overwritten_parameters", "parameters changed in place and overwritten"}}};
constexpr std::array<std::pair<const char*, const char*>, 7> kOfShards{
    {{"dpr", "DPRs"},
     {"late_applied", "late pushes applied"},
     {"late_dropped", "late pushes dropped"},
     {"refused", "pushes refused"},
     {"absent", "absent pushes"},
     {"compensated", "delay-compensated pushes"},
     {"switches", "switches of blocks"}}};

template <typename Add>
void ForEachCount(const JobStatus& status, Add add) {
  for (const auto& [figure, name] : kOfShards) {
    // A worker that begins late is absent before its first iteration: nobody misses a gradient there.
    const double none = std::string_view(figure) == "absent" ? status.OfShards("absent_before") : 0;
    add(figure, name, std::max(status.OfShards(figure) - none, 0.0));
  }
  for (const auto& [figure, name] : kOfWorkers) add(figure, name, status.OfWorkers(figure));
}

// How long pulls were held up, each in each of its blocks. No time of anybody's: pulls wait side by side.
Figures HeldByTable(const JobStatus& status) {
  Figures by_table;
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
  add("waited for", WaitsText(status));
  add("  by server", Largest(status.OfWorkersBy("wait.server."), "s"));
  add("  by table", Largest(status.OfWorkersBy("wait.table."), ""));
  if (const double barrier_s = status.OfWorkers("wait.step.barrier"); barrier_s >= 0.05)
    add("waited at step barriers", InSeconds(barrier_s));
  add("overlap", OverlapText(status));
  add("  by worker", OverlapByWorkerText(status));
  add("  by table", OverlapWaitsText(status));
  add("pushes", PushDelayText(status));
  add("staleness", StalenessText(status));
  add("lead", LeadText(status));
  add("DPRs of worker", Largest(status.OfShardsBy("dpr."), "w", AsCount));
  std::string counts;
  ForEachCount(status, [&counts](const char*, const char* name, double count) {
    if (count > 0) counts += fmt::format("{}{:.0f} {}", counts.empty() ? "" : ", ", count, name);
  });
  add("counts", counts);
  add("connections", Largest(status.OfWorkersBy("connected."), "", AsCount));
  return rows == 0 ? "" : table.Print();
}

nlohmann::json AccountJson(const JobStatus& status) {
  nlohmann::json account;
  account["training_s"] = status.training_s;
  account["samples_per_s"] = status.SamplesPerSecond();
  account["wait_by_worker"] = status.OfWorkersBy("wait.worker.");
  account["wait_by_server"] = status.OfWorkersBy("wait.server.");
  account["wait_by_table"] = status.OfWorkersBy("wait.table.");
  account["wait_by_block"] = status.OfWorkersBy("wait.block.");
  account["wait_at_step_barriers_s"] = status.OfWorkers("wait.step.barrier");
  account["overlap"] = OverlapJson(status);
  account["held_block_s_by_table"] = HeldByTable(status);
  account["held_block_s_by_worker"] = status.OfShardsBy("waited_for.");
  account["dpr_of_worker"] = status.OfShardsBy("dpr.");
  account["staleness_counts"] = status.OfShardsBy("staleness.");
  if (const std::optional<Staleness> staleness = StalenessOf(status)) {
    account["staleness_mean"] = staleness->mean;
    account["staleness_p95"] = staleness->p95;
    for (const WorkerStatus& worker : status.workers) {
      if (const std::optional<double> mean = MeanStalenessOf(status, worker.rank))
        account["staleness_of_worker"][fmt::format("{}", worker.rank)] = *mean;
    }
  }
  account["lead_mean"] = MeanLead(status).value_or(0);
  account["lead_read"] = status.OfShardsBy("lead_read.");
  account["lead_used"] = status.OfWorkersBy("lead_used.");
  account["connected_over"] = status.OfWorkersBy("connected.");
  ForEachCount(status,
               [&account](const char* figure, const char*, double count) { account[figure] = count; });
  return account;
}

}  // namespace leeway::app
