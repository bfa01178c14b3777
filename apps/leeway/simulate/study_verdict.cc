#include "simulate/study_verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "scenario/figures.h"
#include "simulate/ranking.h"
#include "simulate/study_description.h"
#include "terminal/quantity.h"

namespace leeway::app {
namespace {

using scenario::Cell;
using scenario::RunRecord;
using scenario::Scenario;
using scenario::Study;

// So many times the median of the others: from here on a worker or a server is named as slow. An uneven
// placement alone makes a third of difference between servers.
constexpr double kSlowWorker = 1.25;
constexpr double kSlowServer = 1.5;
constexpr std::size_t kCellsNamed = 6;
// Of the time to the end: a slow worker that computes for less of it is not the whole reason for it.
constexpr double kMostOfAll = 0.75;

// One worker or server that takes longer than the others of its job.
struct SlowOne {
  std::size_t which = 0;
  double itself = 0, others = 0;  // its value, and the median of the others
  [[nodiscard]] double times() const { return itself / others; }
};

// The largest of the means over the runs.
std::optional<SlowOne> SlowestOf(const std::vector<std::vector<double>>& by_run, double times_min) {
  if (by_run.empty() || by_run[0].size() < 2) return std::nullopt;
  std::vector<double> means(by_run[0].size(), 0);
  for (const std::vector<double>& run : by_run) {
    for (std::size_t i = 0; i < std::min(run.size(), means.size()); ++i)
      means[i] += run[i] / static_cast<double>(by_run.size());
  }
  const auto largest = std::ranges::max_element(means);
  SlowOne slow{.which = static_cast<std::size_t>(largest - means.begin()), .itself = *largest, .others = 0};
  means.erase(largest);
  std::ranges::sort(means);
  slow.others = (means[(means.size() - 1) / 2] + means[means.size() / 2]) / 2;
  if (!(slow.others > 0) || slow.times() < times_min) return std::nullopt;
  return slow;
}

std::optional<SlowOne> SlowWorkerOf(const Cell& cell) {
  std::vector<std::vector<double>> runs;
  for (const RunRecord* record : scenario::RunsThatEndedWell(cell)) {
    std::vector<double>& computes = runs.emplace_back();
    for (const scenario::WorkerTimes& worker : record->workers)
      computes.push_back(worker.compute_s /
                         static_cast<double>(std::max<std::uint64_t>(worker.iterations, 1)));
  }
  return SlowestOf(runs, kSlowWorker);
}

std::optional<SlowOne> SlowServerOf(const Cell& cell) {
  std::vector<std::vector<double>> runs;
  for (const RunRecord* record : scenario::RunsThatEndedWell(cell)) runs.push_back(record->server_message_s);
  return SlowestOf(runs, kSlowServer);
}

// The share of their time that workers wait, without the one that is slow.
double WaitShare(const Cell& cell, const std::optional<SlowOne>& slow) {
  double waited = 0, all = 0;
  for (const RunRecord* record : scenario::RunsThatEndedWell(cell)) {
    for (std::size_t rank = 0; rank < record->workers.size(); ++rank) {
      if (slow && rank == slow->which) continue;
      waited += record->workers[rank].wait_s;
      all += record->workers[rank].wait_s + record->workers[rank].compute_s;
    }
  }
  return all > 0 ? waited / all : NAN;
}

// The worker that is slow in every cell; nothing where the cells differ in that.
std::optional<SlowOne> SlowWorkerOf(const Study& study) {
  std::optional<SlowOne> common;
  for (const Cell& cell : study.cells) {
    if (scenario::RunsThatEndedWell(cell).empty()) continue;
    const std::optional<SlowOne> slow = SlowWorkerOf(cell);
    if (!slow || (common && common->which != slow->which)) return std::nullopt;
    if (!common) common = slow;
  }
  return common;
}

// The job as far as all cells have the same: "2 workers and 1 server on mlp, 20 iterations of every worker,
// seeds 1 to 3".
std::string JobText(const Study& study) {
  std::vector<std::string> machines, parts;
  if (const auto workers = CommonOf(study, [](const Scenario& one) { return one.job.workers; }))
    machines.push_back(Counted(*workers, "worker"));
  if (const auto servers = CommonOf(study, [](const Scenario& one) { return one.job.servers; }))
    machines.push_back(Counted(*servers, "server"));
  if (!machines.empty()) parts.push_back(Listed(machines));
  if (const auto problem = CommonOf(study, &Scenario::problem)) {
    if (parts.empty()) parts.emplace_back("training");
    parts.back() += " on " + *problem;
  }
  const auto pool = CommonOf(study, &Scenario::pool);
  if (const auto iterations = IterationsOfEach(study))
    parts.push_back(fmt::format("{} iterations of every worker", *iterations));
  else if (pool && *pool > 0)
    parts.push_back(fmt::format("{} iterations that the workers share", *pool));
  parts.push_back(SeedsText(study));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string Compared(const Study& study, const StudyWords& words) {
  std::vector<std::string> names;
  for (const Cell& cell : study.cells) names.push_back(NameOf(cell, words));
  if (names.size() == 1)
    return fmt::format("One job was simulated: {}, {}.", study.cells[0].scenario.job.sync, JobText(study));
  if (names.size() > kCellsNamed)
    return fmt::format("{} settings were compared, from {} to {}: {}.", names.size(), names.front(),
                       names.back(), JobText(study));
  return fmt::format("Compared: {}, with {}.", Listed(names), JobText(study));
}

std::string CameOut(const Study& study, const StudyWords& words, const std::optional<CommonLevel>& level) {
  std::vector<Contender> to_level, to_end;
  for (std::size_t i = 0; i < study.cells.size(); ++i) {
    const std::string name = NameOf(study.cells[i], words);
    if (level) to_level.push_back({.name = name, .seconds = level->seconds[i]});
    Contender& contender = to_end.emplace_back(Contender{.name = name, .seconds = {}});
    for (const RunRecord& record : study.cells[i].records)
      contender.seconds.push_back(record.errors.empty() ? record.seconds : NAN);
  }
  if (study.cells.size() == 1) {
    const double end = scenario::SpreadOf(to_end[0].seconds).mean;
    const double reached = level ? scenario::SpreadOf(to_level[0].seconds).mean : NAN;
    const std::string first =
        std::isfinite(reached) ? fmt::format("reaches {} after {:.3g} s and ", level->text(), reached) : "";
    return fmt::format("It {}ends after {:.3g} s of simulated time.", first, end);
  }
  const std::string ranked = level ? RankingText(level->text(), to_level) : "";
  return ranked + (ranked.empty() ? "" : " ") + RankingText("the end of all iterations", to_end);
}

// Fixed iterations hide what a model gains: the slowest machine has to do its share under each of them.
std::string WhyTheEnd(const Study& study, const std::optional<SlowOne>& slow) {
  const std::optional<std::uint64_t> iterations = IterationsOfEach(study);
  if (!slow || !iterations) return "";
  double computes = 0, ends = HUGE_VAL;
  for (const Cell& cell : study.cells) {
    std::vector<double> times, seconds;
    for (const RunRecord* record : scenario::RunsThatEndedWell(cell)) {
      times.push_back(record->workers[slow->which].compute_s);
      seconds.push_back(record->seconds);
    }
    if (times.empty() || scenario::SpreadOf(seconds).mean >= ends) continue;
    ends = scenario::SpreadOf(seconds).mean;
    computes = scenario::SpreadOf(times).mean;
  }
  if (computes < kMostOfAll * ends) return "";
  return fmt::format(
      " Every worker does the same {} iterations, and worker {} alone computes for {:.3g} s: the end is when "
      "the slowest machine is done, whichever model lets the others go on.",
      *iterations, slow->which, computes);
}

std::string WhoWaits(const Study& study, const StudyWords& words, const std::optional<SlowOne>& slow) {
  std::vector<std::pair<double, std::string>> shares;
  for (const Cell& cell : study.cells) {
    const double share = WaitShare(cell, slow);
    if (std::isfinite(share)) shares.emplace_back(share, NameOf(cell, words));
  }
  if (shares.empty()) return "";
  if (shares.size() > kCellsNamed) {
    std::ranges::sort(shares);
    shares = {shares.front(), shares.back()};
  }
  const bool alone = study.cells.size() == 1;
  std::vector<std::string> texts;
  for (const auto& [share, name] : shares)
    texts.push_back(fmt::format("{:.0f} %{}{}", 100 * share, texts.empty() ? " of their time" : "",
                                alone ? "" : " under " + name));
  if (!slow) return fmt::format("Workers wait for parameters for {}.", Listed(texts));
  return fmt::format(
      "Worker {} takes {:.2g} times as long for a gradient as the median of the others, and these wait for "
      "{}.",
      slow->which, slow->times(), Listed(texts));
}

std::string SlowServer(const Study& study, const StudyWords& words) {
  for (const Cell& cell : study.cells) {
    const std::optional<SlowOne> slow = SlowServerOf(cell);
    if (!slow) continue;
    return fmt::format(
        " Server {} is the slow one: a worker's message takes {:.3g} ms there, {:.3g} ms at the others{}.",
        slow->which, 1e3 * slow->itself, 1e3 * slow->others,
        study.cells.size() > 1 ? " (" + NameOf(cell, words) + ")" : "");
  }
  return "";
}

}  // namespace

std::vector<std::string> VerdictOf(const Study& study, const StudyWords& words,
                                   const std::optional<CommonLevel>& level) {
  const bool ran = std::ranges::any_of(
      study.cells, [](const Cell& cell) { return !scenario::RunsThatEndedWell(cell).empty(); });
  if (!ran) return {Compared(study, words), "No run ended well."};
  const std::optional<SlowOne> slow = SlowWorkerOf(study);
  return {Compared(study, words), CameOut(study, words, level) + WhyTheEnd(study, slow),
          WhoWaits(study, words, slow) + SlowServer(study, words)};
}

}  // namespace leeway::app
