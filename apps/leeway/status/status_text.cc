#include "status/status_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "status/account_text.h"
#include "status/pace.h"
#include "status/staleness.h"
#include "status/sync_text.h"
#include "status/worker_now.h"
#include "terminal/quantity.h"
#include "terminal/table_text.h"
#include "terminal/wrap_text.h"

namespace leeway::app {

namespace {

// A screenful or two; --json has them all.
constexpr std::size_t kWorkersShown = 64;
constexpr std::size_t kTablesShown = 40;

// "Job "train": running for 1:07, 43 % done, 0:55 left".
std::string JobLine(const JobStatus& status, const Progress& progress) {
  std::string line =
      fmt::format("Job \"{}\": {} for {}", status.job, status.phase, ShortTime(status.uptime_s));
  if (progress.share()) line += fmt::format(", {:.0f} % done", std::floor(*progress.share() * 100));
  if (const std::optional<double> left_s = progress.Left_s())
    line += fmt::format(", {} left", ShortTime(*left_s));
  return line;
}

// "6400 samples/s, staleness 3.1 (p95 9), slowest w3 4.1x"; empty before the first step.
std::string SpeedLine(const JobStatus& status, const Progress& progress) {
  if (status.training_s <= 0) return {};
  std::string line = fmt::format("{} samples/s", ShortCount(progress.SamplesPerSecond()));
  if (const std::optional<Staleness> staleness = StalenessOf(status))
    line += fmt::format(", staleness {:.1f} (p95 {:.0f})", staleness->mean, staleness->p95);
  if (const std::optional<Slowest>& slowest = progress.pace().slowest())
    line += ", slowest " + ToText(*slowest);
  return line;
}

// "2 of 3 workers"; without the number that is wanted, where the scheduler has not said it.
std::string PartOf(std::size_t count, std::uint32_t wanted, std::string_view noun) {
  return wanted == 0 ? Counted(count, noun) : fmt::format("{} of {}", count, Counted(wanted, noun));
}

// "joined so far: 2 of 3 workers, 1 of 1 server".
std::string GatheringLine(const JobStatus& status) {
  const auto workers = std::ranges::count(status.workers, "joined", &WorkerStatus::state);
  std::set<std::uint32_t> servers;
  for (const ShardStatus& shard : status.shards) {
    if (shard.state == "up") servers.insert(shard.server);
  }
  return fmt::format("joined so far: {}, {}",
                     PartOf(static_cast<std::size_t>(workers), status.workers_wanted, "worker"),
                     PartOf(servers.size(), status.servers_wanted, "server"));
}

std::string HeadText(const JobStatus& status, const Progress& progress) {
  std::string text = Wrapped(JobLine(status, progress), 0, 2) + "\n";
  const auto add = [&text](const std::string& line) {
    if (!line.empty()) text += "  " + Wrapped(line, 2, 4) + "\n";
  };
  if (status.phase == "gathering") {
    add(GatheringLine(status));
  }
  add(SpeedLine(status, progress));
  if (const std::string waits = WhoWaitsForWhom(status); !waits.empty()) {
    add("waiting: " + waits);
  } else if (status.phase == "running") {
    add("waiting: nobody");
  }
  std::string checkpoints = CheckpointsLine(status.checkpoints);
  if (!status.checkpoints.last_folder.empty())
    checkpoints += fmt::format(" ({} ago)", ShortTime(status.checkpoints.last_age_s));
  add(checkpoints);
  add(TookOverLine(status));
  return text;
}

// Workers that others wait for and workers in trouble come first, then the slowest. All by rank if they fit.
std::vector<const WorkerStatus*> ShownWorkers(const JobStatus& status, const Pace& pace, std::size_t most) {
  struct Entry {
    const WorkerStatus* worker;
    bool in_trouble;
    std::uint32_t waited_for;
    double step_s;
  };
  const std::vector<std::uint32_t> waited_for = TimesWaitedFor(status);
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < status.workers.size(); ++i) {
    const WorkerStatus& worker = status.workers[i];
    entries.push_back({&worker, !IsLive(worker) && worker.state != "left", waited_for[i],
                       std::max(pace.StepSeconds(worker.rank).value_or(0), worker.now.computing_s)});
  }
  if (entries.size() > most) {
    std::ranges::stable_sort(entries, [](const Entry& a, const Entry& b) {
      return std::tuple(a.waited_for, a.in_trouble, a.step_s) >
             std::tuple(b.waited_for, b.in_trouble, b.step_s);
    });
    entries.resize(most);
  }
  std::vector<const WorkerStatus*> shown;
  for (const Entry& entry : entries) shown.push_back(entry.worker);
  return shown;
}

std::string WorkersText(const JobStatus& status, const Pace& pace, std::size_t most, TableText::Last last) {
  if (status.workers.empty()) return {};
  TableText table({"worker", "step", "samples/s", "s/step", "wait %", "stale", "now"}, last);
  const double training_s = status.training_s;
  for (const WorkerStatus* worker : ShownWorkers(status, pace, most)) {
    const std::optional<double> step_s = pace.StepSeconds(worker->rank);
    const std::optional<double> staleness = MeanStalenessOf(status, worker->rank);
    const double samples = Figure(worker->figures, "samples");
    const double waited_s = std::min(Figure(worker->figures, "wait_s"), training_s);
    table.Row({fmt::format("w{}", worker->rank),
               fmt::format("{}", std::max<std::int64_t>(worker->iteration, 0)),
               training_s > 0 ? ShortCount(samples / training_s) : "-", step_s ? StepSeconds(*step_s) : "-",
               training_s > 0 ? fmt::format("{:.0f} %", 100 * waited_s / training_s) : "-",
               staleness ? fmt::format("{:.1f}", *staleness) : "-", DoesNow(status, *worker)});
  }
  std::string text = table.Print();
  if (status.workers.size() > most)
    text += fmt::format("  ... {} more workers (--json has all)\n", status.workers.size() - most);
  return text;
}

std::size_t LinesOf(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

}  // namespace

std::string TookOverLine(const JobStatus& status) {
  if (!status.took_over_s) return {};
  return fmt::format(
      "the scheduler was started again {} ago: counts lack servers and workers that had died before",
      ShortTime(*status.took_over_s));
}

std::string CheckpointsLine(const CheckpointsStatus& checkpoints) {
  if (checkpoints.folder.empty()) return {};
  std::string line = fmt::format("checkpoints: {} whole", checkpoints.completed);
  if (!checkpoints.last_folder.empty()) {
    line +=
        fmt::format(", the last of iteration {} at {}", checkpoints.last_iteration, checkpoints.last_folder);
  }
  if (checkpoints.given_up > 0) line += fmt::format("; {} given up", checkpoints.given_up);
  // A scheduler that was started again does not know why.
  if (!checkpoints.last_failure.empty()) line += ", the last: " + checkpoints.last_failure;
  return line;
}

std::string StatusText(const JobStatus& status) {
  Progress progress(0);
  progress.Add(status, 0);
  std::string text = HeadText(status, progress);
  const auto add = [&text](const std::string& part) {
    if (!part.empty()) text += "\n" + part;
  };
  add(WorkersText(status, progress.pace(), kWorkersShown, TableText::Last::kLeft));
  add(ServersText(status));
  add(SyncText(status, kTablesShown));
  for (const std::string& rule : status.rules) text += "  " + Wrapped("rule: " + rule, 2, 4) + "\n";
  add(AccountText(status));
  return text;
}

std::string WatchText(const JobStatus& status, const Progress& progress, std::size_t rows) {
  constexpr std::size_t kHeads = 4;   // of both tables, with their rules
  constexpr std::size_t kBlanks = 2;  // before each
  constexpr std::size_t kMore = 2;    // "... 3 more" of each
  std::string text = HeadText(status, progress);
  const std::string servers = ServersText(status);
  const std::size_t used = LinesOf(text) + LinesOf(servers) + kHeads + kBlanks + kMore;
  const std::size_t room = rows > used ? rows - used : 0;
  // Half for each; what one of them does not need is the other's.
  const std::size_t tables_wanted = SyncRows(status);
  const std::size_t workers =
      std::max<std::size_t>(1, room - std::min(room, std::min(tables_wanted, room / 2)));
  text += "\n" + WorkersText(status, progress.pace(), workers, TableText::Last::kLeftCut) + servers;
  const std::size_t taken = std::min(workers, status.workers.size());
  if (room > taken && tables_wanted > 0) text += "\n" + SyncText(status, room - taken);
  return text;
}

std::string StatusJson(const std::string& status_json) {
  const Result<JobStatus> status = ParseJobStatus(status_json);
  nlohmann::json json = nlohmann::json::parse(status_json, nullptr, /*allow_exceptions=*/false);
  if (!status.ok() || !json.is_object()) return status_json;
  json["account"] = AccountJson(*status);
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace leeway::app
