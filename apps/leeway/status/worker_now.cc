#include "status/worker_now.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "status/pace.h"
#include "terminal/wrap_text.h"

namespace leeway::app {
namespace {

constexpr std::size_t kNamed = 4;         // workers, one after the other; then how many more
constexpr std::size_t kNameColumns = 24;  // of a table or barrier

std::string Names(const std::vector<std::uint32_t>& ranks) {
  std::string names;
  for (std::size_t i = 0; i < std::min(ranks.size(), kNamed); ++i)
    names += fmt::format("{}w{}", i == 0 ? "" : ", ", ranks[i]);
  if (ranks.size() > kNamed) names += fmt::format(" and {} more", ranks.size() - kNamed);
  return names;
}

// Ranks that are missing on the table and server whose values the worker waits for.
std::vector<std::uint32_t> MissingThere(const JobStatus& status, const WorkerStatus& worker) {
  for (const TableStatus& table : status.tables) {
    if (table.name != worker.now.name) continue;
    for (const TableOnServer& row : table.servers) {
      if (row.server != worker.now.server || row.waiting == 0) continue;
      std::vector<std::uint32_t> missing = row.missing;
      std::erase_if(missing, [&](std::uint32_t rank) {
        const WorkerStatus* const other = status.FindWorker(rank);
        // It has sent what was missing when the server reported, and has gone on.
        return rank == worker.rank || (other != nullptr && other->iteration > row.v_train_max);
      });
      return missing;
    }
  }
  return {};
}

std::vector<std::uint32_t> NotAtBarrier(const JobStatus& status, const WorkerStatus& worker) {
  std::vector<std::uint32_t> missing;
  for (const WorkerStatus& other : status.workers) {
    const bool there = other.now.waits_on == "barrier" && other.now.name == worker.now.name;
    if (IsLive(other) && !there) missing.push_back(other.rank);
  }
  return missing;
}

// "s0" where no worker is known to be waited for.
std::string WhomText(const JobStatus& status, const WorkerStatus& worker) {
  if (const auto ranks = WaitsFor(status, worker); !ranks.empty()) return Names(ranks);
  if (worker.now.server) return fmt::format("s{}", *worker.now.server);
  const std::string& what = worker.now.waits_on;
  if (what == "gathering") return "the job to begin";
  if (what == "barrier" || what == "file" || what == "connection") return "a " + what;
  return what == "tables" || what == "left" ? "the scheduler" : what;
}

std::string WhereText(const WorkerNow& now) {
  const std::string name = CutMiddle(now.name, kNameColumns);
  if (now.waits_on == "barrier") return fmt::format(" (barrier {})", name);
  if (now.waits_on == "members") return " (to leave)";
  if (now.server && !name.empty()) return fmt::format(" ({} on s{})", name, *now.server);
  return "";
}

}  // namespace

bool Waits(const WorkerStatus& worker) {
  constexpr double kVerdictTakes_s = 1;
  if (!IsLive(worker) && worker.now.waits_on != "members") return false;
  if (worker.now.waits_on.empty() || worker.now.computing_s > 0) return false;
  return worker.now.waits_on != "verdict" || worker.now.waiting_s >= kVerdictTakes_s;
}

std::vector<std::uint32_t> WaitsFor(const JobStatus& status, const WorkerStatus& worker) {
  if (!Waits(worker)) return {};
  if (worker.now.waits_on == "values") return MissingThere(status, worker);
  if (worker.now.waits_on == "barrier") return NotAtBarrier(status, worker);
  if (worker.now.waits_on == "members") {
    std::vector<std::uint32_t> ranks = worker.now.ranks;
    std::erase_if(ranks, [&](std::uint32_t rank) {
      const WorkerStatus* const other = status.FindWorker(rank);
      return other != nullptr && !IsLive(*other);
    });
    return ranks;
  }
  return {};
}

std::string DoesNow(const JobStatus& status, const WorkerStatus& worker) {
  std::string text;
  if (Waits(worker)) {
    text = "waits for " + WhomText(status, worker);
    if (worker.now.waiting_s > 0) text += fmt::format(", {:.1f} s", worker.now.waiting_s);
    text += WhereText(worker.now);
  } else if (!IsLive(worker)) {
    text = worker.state;
  } else if (worker.now.computing_s > 0) {
    text = fmt::format("computes, {:.1f} s", worker.now.computing_s);
  } else {
    text = "runs";
  }
  if (worker.state == "suspect") return fmt::format("silent for {:.1f} s; before: {}", worker.silent_s, text);
  if (IsLive(worker) && worker.report_age_s >= kOldReport_s)
    text += fmt::format("; said {:.0f} s ago", worker.report_age_s);
  return text;
}

std::string WhoWaitsForWhom(const JobStatus& status) {
  std::map<std::string, std::vector<std::uint32_t>> by_whom;
  for (const WorkerStatus& worker : status.workers) {
    if (Waits(worker)) by_whom[WhomText(status, worker)].push_back(worker.rank);
  }
  std::vector<std::pair<std::string, std::vector<std::uint32_t>>> sorted(by_whom.begin(), by_whom.end());
  std::ranges::stable_sort(sorted, std::greater(), [](const auto& entry) { return entry.second.size(); });
  std::string text;
  for (const auto& [whom, who] : sorted)
    text += fmt::format("{}{} for {}", text.empty() ? "" : "; ", Names(who), whom);
  return text;
}

std::vector<std::uint32_t> TimesWaitedFor(const JobStatus& status) {
  std::vector<std::uint32_t> times(status.workers.size(), 0);
  for (const WorkerStatus& worker : status.workers) {
    for (const std::uint32_t rank : WaitsFor(status, worker)) {
      const WorkerStatus* const found = status.FindWorker(rank);
      if (found != nullptr) ++times[static_cast<std::size_t>(found - status.workers.data())];
    }
  }
  return times;
}

}  // namespace leeway::app
