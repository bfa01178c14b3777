#include "status/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "base/errors.h"
#include "cli/policy_check.h"
#include "status/account_text.h"
#include "status/pace.h"
#include "status/staleness.h"
#include "status/status_text.h"
#include "terminal/quantity.h"
#include "terminal/table_text.h"
#include "terminal/wrap_text.h"

namespace leeway::app {
namespace {

constexpr std::size_t kWorkerRows = 64;  // a screenful or two

// Excludes waits by cause ("wait.table.conv_s") and the account of overlap, which have places of their own,
// and recorded figures, which count the same seconds again.
bool IsSeconds(const std::string& figure) {
  return figure.ends_with("_s") && !figure.starts_with("wait.") && !figure.starts_with("record.") &&
         !figure.starts_with("overlap.");
}
bool IsWaitCause(const std::string& figure) {
  return figure.starts_with("wait_") && IsSeconds(figure) && figure != "wait_s";
}

std::string Seconds(double s) { return fmt::format("{:.1f}", s); }
std::string Count(double n) { return fmt::format("{:.0f}", n); }
std::string Percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.0f} %", 100 * part / whole) : "-";
}

// "wait_verdict_s" -> "verdict".
std::string Bare(const std::string& figure) {
  std::string name = figure.substr(0, figure.size() - 2);
  if (IsWaitCause(figure)) name = name.substr(5);
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

// Where the seconds of the workers went, by the names that they reported; the longest first.
std::string PhaseTable(const JobStatus& status, const LaunchTimes& times) {
  using ByName = std::map<std::string, double>;
  ByName phases;
  ByName causes;
  for (const WorkerStatus& worker : status.workers) {
    for (const auto& [name, value] : worker.figures) {
      if (!IsSeconds(name)) continue;
      (IsWaitCause(name) ? causes : phases)[name] += value;
    }
  }
  if (phases.empty()) return {};
  const double whole = times.train_s * static_cast<double>(status.workers.size());
  double rest = whole;
  for (const auto& [name, value] : phases) rest -= value;
  const auto longest_first = [](const ByName& by_name) {
    std::vector<std::pair<std::string, double>> sorted(by_name.begin(), by_name.end());
    std::ranges::stable_sort(sorted, std::greater(), [](const auto& entry) { return entry.second; });
    std::erase_if(sorted, [](const auto& entry) { return Seconds(entry.second) == Seconds(0); });
    return sorted;
  };
  TableText table({"time of all workers", "seconds", "share"});
  for (const auto& [name, value] : longest_first(phases)) {
    table.Row({Bare(name), Seconds(value), Percent(value, whole)});
    if (name != "wait_s") continue;
    for (const auto& [cause, part] : longest_first(causes))
      table.Row({"  for " + Bare(cause), Seconds(part), Percent(part, whole)});
  }
  table.Row({"outside of steps (start, evaluation)", Seconds(std::max(rest, 0.0)),
             Percent(std::max(rest, 0.0), whole)});
  return table.Print() + "\n";
}

std::string WorkerTable(const JobStatus& status, double training_s) {
  TableText table(
      {"worker", "steps", "samples", "samples/s", "s/step", "wait s", "wait %", "staleness", "state"});
  const std::size_t shown = std::min(status.workers.size(), kWorkerRows);
  for (std::size_t i = 0; i < shown; ++i) {
    const WorkerStatus& w = status.workers[i];
    const Figures& f = w.figures;
    const std::int64_t steps = StepsOf(w);
    const double compute_s = Figure(f, "compute_s") + Figure(f, "slowed_s");
    const std::optional<double> staleness = MeanStalenessOf(status, w.rank);
    table.Row({fmt::format("w{}", w.rank), Count(static_cast<double>(steps)), Count(Figure(f, "samples")),
               training_s > 0 ? ShortCount(Figure(f, "samples") / training_s) : "-",
               steps > 0 && compute_s > 0 ? StepSeconds(compute_s / static_cast<double>(steps)) : "-",
               Seconds(Figure(f, "wait_s")), Percent(std::min(Figure(f, "wait_s"), training_s), training_s),
               staleness ? fmt::format("{:.1f}", *staleness) : "-", w.state});
  }
  std::string text = table.Print();
  if (status.workers.size() > shown)
    text += fmt::format("  ... {} more workers (--summary-json has all)\n", status.workers.size() - shown);
  return text;
}

std::string ServerTable(const JobStatus& status) {
  std::map<std::uint32_t, Figures> servers;
  for (const ShardStatus& shard : status.shards) {
    for (const auto& [name, value] : shard.figures) servers[shard.server][name] += value;
  }
  TableText table({"server", "pushes", "pulls", "DPRs", "advances", "in", "out"});
  for (const auto& [server, f] : servers) {
    const double pushes = Figure(f, "applied") + Figure(f, "summed");
    table.Row({fmt::format("s{}", server), Count(pushes), Count(Figure(f, "pulls")), Count(Figure(f, "dpr")),
               Count(Figure(f, "advances")), ShortBytes(Figure(f, "bytes_in")),
               ShortBytes(Figure(f, "bytes_out"))});
  }
  return table.Print();
}

std::string LivesTable(const WorkerLives& lives) {
  TableText table({"worker", "lives", "restarts", "rejoins", "how each ended"}, TableText::Last::kLeft);
  for (std::uint32_t rank = 0; rank < lives.workers().size(); ++rank) {
    std::string ends;
    for (const Life& life : lives.workers()[rank]) {
      ends += fmt::format("{}{}{}", ends.empty() ? "" : ", then ", NameOf(life.end),
                          life.how.exit_code == 0 ? "" : fmt::format(": {}", DescribeEnd(life.how)));
    }
    table.Row({fmt::format("w{}", rank), fmt::format("{}", lives.workers()[rank].size()),
               fmt::format("{}", lives.Count(rank, LifeBegan::kRestart)),
               fmt::format("{}", lives.Count(rank, LifeBegan::kRejoin)),
               ends.empty() ? "never started" : ends});
  }
  return table.Print();
}

std::string EventsTable(const JobEvents& events) {
  TableText table({"at s", "who", "what happened"}, TableText::Last::kLeft);
  for (const JobEvent& event : events.all()) table.Row({Seconds(event.at_s), event.who, event.what});
  if (events.left_out() > 0) table.Row({"", "", fmt::format("and {} more", events.left_out())});
  return table.Print();
}

nlohmann::json EventsJson(const JobEvents& events) {
  nlohmann::json list = nlohmann::json::array();
  for (const JobEvent& event : events.all()) {
    list.push_back(
        {{"at_s", event.at_s}, {"kind", NameOf(event.kind)}, {"who", event.who}, {"what", event.what}});
  }
  return list;
}

nlohmann::json LivesJson(const WorkerLives& lives) {
  nlohmann::json workers = nlohmann::json::array();
  for (std::uint32_t rank = 0; rank < lives.workers().size(); ++rank) {
    nlohmann::json each = nlohmann::json::array();
    for (const Life& life : lives.workers()[rank]) {
      each.push_back({{"began", NameOf(life.began)},
                      {"ended", NameOf(life.end)},
                      {"exit_code", life.how.exit_code},
                      {"signal", life.how.signal}});
    }
    workers.push_back({{"rank", rank},
                       {"lives", std::move(each)},
                       {"restarts", lives.Count(rank, LifeBegan::kRestart)},
                       {"rejoins", lives.Count(rank, LifeBegan::kRejoin)}});
  }
  return workers;
}

std::string TableLine(const JobStatus& status) {
  std::uint64_t elements = 0;
  std::uint64_t blocks = 0;
  std::size_t own_clocks = 0;
  std::set<std::string> policies;
  for (const TableStatus& table : status.tables) {
    if (table.own_clock) {
      ++own_clocks;
      continue;
    }
    elements += table.elements;
    blocks += table.blocks;
    const std::string apply = table.apply.empty() ? DefaultApplyOf(table.sync) : table.apply;
    policies.insert(fmt::format("{} + {} + {}", table.sync, apply, table.optimizer));
    for (const TableOnServer& row : table.servers) {
      const std::string row_apply = row.apply.empty() ? DefaultApplyOf(row.sync) : row.apply;
      if (row.sync == table.sync && row_apply == apply) continue;
      policies.insert(fmt::format("{} + {} on server {}", row.sync, row_apply, row.server));
    }
  }
  std::string text = fmt::format("{}, {} in {}", Counted(status.tables.size() - own_clocks, "table"),
                                 Counted(elements, "value"), Counted(blocks, "block"));
  for (const std::string& policy : policies) text += fmt::format("; {}", policy);
  if (own_clocks > 0) {
    text += fmt::format("; and {} with a clock of {} own (broadcast_parameters, push_pull)", own_clocks,
                        own_clocks == 1 ? "its" : "their");
  }
  return text;
}

// Every step was one sample: most likely nobody has said how many it has.
bool CountsSteps(const JobStatus& status) {
  return status.OfWorkers("samples") > 0 && std::ranges::all_of(status.workers, [](const WorkerStatus& w) {
           return Figure(w.figures, "samples") == static_cast<double>(StepsOf(w));
         });
}

// Empty for workers that reported neither samples nor steps, as those of push_pull alone.
std::string SamplesLine(const JobStatus& status, double training_s) {
  const double samples = status.OfWorkers("samples");
  const std::string within =
      Seconds(training_s) == Seconds(0) ? "less than 0.1 s" : Seconds(training_s) + " s";
  if (samples > 0) {
    return fmt::format("{} samples in {} of training: {} samples/s{}", Count(samples), within,
                       training_s > 0 ? ShortCount(samples / training_s) : "-",
                       CountsSteps(status) ? " (a step counts as 1 unless opt.samples says more)" : "");
  }
  std::int64_t steps = 0;
  for (const WorkerStatus& worker : status.workers) steps += StepsOf(worker);
  if (steps == 0) return {};
  return fmt::format("{} in {} of training; workers have not said how many samples",
                     Counted(static_cast<std::uint64_t>(steps), "step"), within);
}

// Over the whole job.
std::optional<Slowest> SlowestOf(const JobStatus& status) {
  JobStatus all = status;
  for (WorkerStatus& worker : all.workers) {
    worker.state = "joined";  // by now they have left
    worker.now = {};
  }
  Pace pace;
  pace.Add(all, 0);
  return pace.slowest();
}

}  // namespace

void JudgeEnd(Outcome& outcome, bool accepts_losses) {
  if (outcome.exit_code != 0 || !outcome.why.empty()) return;
  if (outcome.NobodyJoined() && !outcome.asked_help) {
    outcome.exit_code = ExitCode(FailedPrecondition(""));
    outcome.why =
        "no worker joined the job: the script never called lw.init(); add the lines of docs/pytorch.md to it "
        "(import leeway.torch as lw, lw.init(), ...), or run it without leeway run";
    return;
  }
  if (accepts_losses) return;
  const auto& workers = outcome.lives.workers();
  for (std::uint32_t rank = 0; rank < workers.size(); ++rank) {
    if (workers[rank].empty() || workers[rank].back().end != LifeEnd::kLost) continue;
    outcome.exit_code = workers[rank].back().how.exit_code;
    outcome.lost_rank = rank;
    return;
  }
}

std::string SummaryText(const Outcome& outcome) {
  const LaunchTimes& t = outcome.times;
  std::string text = fmt::format("Job {} after {:.1f} s (start {:.1f} s, scripts {:.1f} s, end {:.1f} s)\n",
                                 outcome.stopped       ? "stopped"
                                 : outcome.why.empty() ? "done"
                                                       : "failed",
                                 t.total_s(), t.start_s, t.train_s, t.end_s);
  // Why a job failed its last line says, below all tables.
  if (outcome.stopped && !outcome.why.empty()) text += "  " + Wrapped(outcome.why, 2, 4) + "\n";
  if (const std::size_t lost = outcome.lives.CountNow(LifeEnd::kLost); lost > 0 && outcome.why.empty()) {
    text += fmt::format("  {} of {} workers lost: the job went on without\n", lost,
                        outcome.lives.workers().size());
  }
  std::string lives = outcome.lives.Eventful() ? "\n" + LivesTable(outcome.lives) : "";
  if (!outcome.events.all().empty()) lives += "\n" + EventsTable(outcome.events);
  const bool failed = !outcome.why.empty() && !outcome.stopped;
  if (failed || !outcome.status || outcome.status->tables.empty()) return text + lives;
  const JobStatus& status = *outcome.status;
  const auto add = [&text](const std::string& line) { text += "  " + Wrapped(line, 2, 4) + "\n"; };
  // Of a job without steps of its own (push_pull alone) the scripts' time is all that is known.
  const double training_s = status.training_s > 0 ? status.training_s : t.train_s;
  if (const std::string line = SamplesLine(status, training_s); !line.empty()) add(line);
  if (const std::optional<Slowest> slowest = SlowestOf(status); slowest && slowest->times > 0) {
    add(fmt::format("slowest worker: w{}, {:.1f} times the median per step", slowest->rank, slowest->times));
  }
  if (const double lost = status.Lost(); lost > 0)
    add(fmt::format(
        "{} pushes were lost (with servers that died, or between the blocks of a fuzzy checkpoint)",
        Count(lost)));
  if (const std::string line = CheckpointsLine(status.checkpoints); !line.empty()) add(line);
  if (const std::string line = TookOverLine(status); !line.empty()) add(line);
  add(TableLine(status));
  const std::string account = AccountText(status);
  text += "\n" + PhaseTable(status, t) + WorkerTable(status, training_s) + "\n" + ServerTable(status) +
          (account.empty() ? "" : "\n" + account) + lives;
  return text;
}

std::string SummaryJson(const Outcome& outcome) {
  nlohmann::json root;
  root["exit_code"] = outcome.exit_code;
  root["why"] = outcome.why;
  root["stopped"] = outcome.stopped;
  root["times"] = {{"start_s", outcome.times.start_s},
                   {"train_s", outcome.times.train_s},
                   {"end_s", outcome.times.end_s},
                   {"total_s", outcome.times.total_s()}};
  root["workers"] = LivesJson(outcome.lives);
  root["events"] = EventsJson(outcome.events);
  if (outcome.status) {
    const JobStatus& status = *outcome.status;
    root["totals"] = {{"samples", status.OfWorkers("samples")},
                      {"training_s", status.training_s},
                      {"samples_per_s", status.SamplesPerSecond()},
                      {"wait_s", status.OfWorkers("wait_s")},
                      {"bytes_sent", status.OfWorkers("bytes_sent")},
                      {"bytes_received", status.OfWorkers("bytes_received")},
                      {"pulls", status.OfShards("pulls")},
                      {"dpr", status.OfShards("dpr")},
                      {"refused", status.OfShards("refused")},
                      {"late_dropped", status.OfShards("late_dropped") + status.OfWorkers("skipped_late")},
                      {"lost", status.Lost()},
                      {"torn", status.lacking_torn}};
    root["account"] = AccountJson(status);
    root["status"] = nlohmann::json::parse(outcome.status_json, nullptr, /*allow_exceptions=*/false);
  }
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace leeway::app
