#include "status/overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "terminal/wrap_text.h"

namespace leeway::app {
namespace {

std::map<std::string, Overlap> OverlapOfTables(const JobStatus& status) {
  std::map<std::string, Overlap> tables;
  const auto add = [&](const std::string& prefix, double Overlap::*member) {
    for (const auto& [table, seconds] : status.OfWorkersBy(prefix)) tables[table].*member += seconds;
  };
  add("overlap.communication.", &Overlap::communication_s);
  add("overlap.queue.", &Overlap::queue_s);
  add("overlap.held.", &Overlap::held_s);
  add("overlap.wire.", &Overlap::wire_s);
  return tables;
}

// "held for other workers 1.1 s, wire 0.5 s": the longest first, without parts that would print as 0.
std::string CausesText(const Overlap& overlap) {
  std::vector<std::pair<double, const char*>> causes{
      {overlap.held_s, "held for other workers"}, {overlap.wire_s, "wire"}, {overlap.queue_s, "own queue"}};
  std::ranges::stable_sort(causes, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [seconds, name] : causes) {
    if (seconds >= 0.05) text += fmt::format("{}{} {:.1f} s", text.empty() ? "" : ", ", name, seconds);
  }
  return text.empty() ? "" : " (" + text + ")";
}

nlohmann::json SecondsJson(const Overlap& overlap) {
  nlohmann::json json = {{"communication_s", overlap.communication_s},
                         {"waited_s", overlap.waited_s()},
                         {"held_s", overlap.held_s},
                         {"wire_s", overlap.wire_s},
                         {"queue_s", overlap.queue_s}};
  if (const std::optional<double> share = overlap.share()) json["overlap"] = *share;
  return json;
}

}  // namespace

std::optional<double> Overlap::share() const {
  if (communication_s <= 0) return std::nullopt;
  return 1 - waited_s() / communication_s;
}

Overlap OverlapOf(const Figures& worker) {
  return {.communication_s = Figure(worker, "overlap.communication_s"),
          .queue_s = Figure(worker, "overlap.queue_s"),
          .held_s = Figure(worker, "overlap.held_s"),
          .wire_s = Figure(worker, "overlap.wire_s"),
          .delay_s = Figure(worker, "overlap.delay_s"),
          .pushes = Figure(worker, "overlap.pushes"),
          .slow_pushes = Figure(worker, "overlap.slow_pushes")};
}

Overlap OverlapOf(const JobStatus& status) {
  Figures sums;
  for (const WorkerStatus& worker : status.workers) {
    for (auto at = worker.figures.lower_bound("overlap.");
         at != worker.figures.end() && at->first.starts_with("overlap."); ++at)
      sums[at->first] += at->second;
  }
  return OverlapOf(sums);
}

std::string OverlapText(const JobStatus& status) {
  const Overlap overlap = OverlapOf(status);
  const std::optional<double> share = overlap.share();
  if (!share) return "";
  return fmt::format("{:.0f} %: of {:.1f} s of communication {:.1f} s were waited for{}", 100 * *share,
                     overlap.communication_s, overlap.waited_s(), CausesText(overlap));
}

std::string OverlapByWorkerText(const JobStatus& status) {
  constexpr std::size_t kShown = 8;
  std::vector<std::pair<double, std::uint32_t>> workers;
  for (const WorkerStatus& worker : status.workers) {
    if (const std::optional<double> share = OverlapOf(worker.figures).share())
      workers.emplace_back(*share, worker.rank);
  }
  std::ranges::sort(workers);
  std::string text;
  for (std::size_t i = 0; i < std::min(workers.size(), kShown); ++i) {
    const auto& [share, rank] = workers[i];
    text += fmt::format("{}w{} {:.0f} %", i == 0 ? "" : ", ", rank, 100 * share);
  }
  if (workers.size() > kShown) text += fmt::format(", and {} more", workers.size() - kShown);
  return text;
}

std::string OverlapWaitsText(const JobStatus& status) {
  constexpr std::size_t kShown = 3;
  std::vector<std::pair<std::string, Overlap>> tables;
  for (auto& [name, overlap] : OverlapOfTables(status)) {
    if (overlap.waited_s() >= 0.05) tables.emplace_back(name, overlap);
  }
  std::ranges::stable_sort(
      tables, [](const auto& a, const auto& b) { return a.second.waited_s() > b.second.waited_s(); });
  std::string text;
  for (std::size_t i = 0; i < std::min(tables.size(), kShown); ++i) {
    const auto& [name, overlap] = tables[i];
    text += fmt::format("{}{} {:.1f} s{}", i == 0 ? "" : ", ", CutMiddle(name, 30), overlap.waited_s(),
                        CausesText(overlap));
  }
  return text;
}

std::string PushDelayText(const JobStatus& status) {
  const Overlap overlap = OverlapOf(status);
  if (overlap.pushes <= 0) return "";
  return fmt::format("left {:.2f} ms after they were ready on average; {:.0f} of {:.0f} after more than 1 ms",
                     1e3 * overlap.delay_s / overlap.pushes, overlap.slow_pushes, overlap.pushes);
}

nlohmann::json OverlapJson(const JobStatus& status) {
  const Overlap all = OverlapOf(status);
  nlohmann::json json = SecondsJson(all);
  json["pushes"] = all.pushes;
  json["slow_pushes"] = all.slow_pushes;
  json["push_delay_s"] = all.delay_s;
  json["of_worker"] = nlohmann::json::object();
  for (const WorkerStatus& worker : status.workers) {
    if (const std::optional<double> share = OverlapOf(worker.figures).share())
      json["of_worker"][fmt::format("{}", worker.rank)] = *share;
  }
  json["of_table"] = nlohmann::json::object();
  for (const auto& [name, overlap] : OverlapOfTables(status)) json["of_table"][name] = SecondsJson(overlap);
  return json;
}

}  // namespace leeway::app
