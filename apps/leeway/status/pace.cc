#include "status/pace.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "terminal/quantity.h"

namespace leeway::app {
namespace {

// Long enough for some steps of most models, short enough for a change to be seen.
constexpr double kWindow_s = 10;
// A step that is under way says something about its worker only once it is much longer than the others were,
// and no hiccup of the machine.
constexpr double kStandsOut = 2;
constexpr double kStandsOut_s = 1;

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

bool IsLive(const WorkerStatus& worker) { return worker.state == "joined" || worker.state == "suspect"; }

void Pace::Add(const JobStatus& status, double at_s) {
  Look look{.at_s = at_s, .workers = {}};
  for (const WorkerStatus& worker : status.workers) {
    look.workers[worker.rank] = {Figure(worker.figures, "compute_s") + Figure(worker.figures, "slowed_s"),
                                 StepsOf(worker)};
  }
  looks_.push_back(std::move(look));
  while (looks_.size() > 2 && at_s - looks_[1].at_s >= kWindow_s) looks_.pop_front();
  slowest_ = Find(status);
}

std::optional<double> Pace::StepSeconds(std::uint32_t rank) const {
  if (looks_.empty()) return std::nullopt;
  const auto now = looks_.back().workers.find(rank);
  if (now == looks_.back().workers.end()) return std::nullopt;
  const auto& [compute_s, steps] = now->second;
  const auto before = looks_.front().workers.find(rank);
  if (before != looks_.front().workers.end() && steps > before->second.steps &&
      compute_s > before->second.compute_s) {
    return (compute_s - before->second.compute_s) / static_cast<double>(steps - before->second.steps);
  }
  if (steps < 1 || compute_s <= 0) return std::nullopt;
  return compute_s / static_cast<double>(steps);
}

std::optional<Slowest> Pace::Find(const JobStatus& status) const {
  std::vector<const WorkerStatus*> live;
  for (const WorkerStatus& worker : status.workers) {
    if (IsLive(worker)) live.push_back(&worker);
  }
  // Not before every one has told of itself: it would look as far behind as the others have come.
  const auto silent = [](const WorkerStatus* worker) { return worker->iteration < 1; };
  if (live.size() < 2 || std::ranges::any_of(live, silent)) return std::nullopt;

  std::vector<double> paces;
  std::optional<Slowest> slowest, stuck;
  double most_s = 0;
  for (const WorkerStatus* worker : live) {
    const std::optional<double> pace_s = StepSeconds(worker->rank);
    if (pace_s) paces.push_back(*pace_s);
    if (pace_s.value_or(0) > most_s) {
      most_s = *pace_s;
      slowest = {.rank = worker->rank};
    }
    const double in_step_s = worker->now.computing_s;
    const bool stands_out = in_step_s >= kStandsOut_s && in_step_s >= kStandsOut * pace_s.value_or(0);
    if (stands_out && (!stuck || in_step_s > stuck->in_step_s))
      stuck = {.rank = worker->rank, .in_step_s = in_step_s};
  }
  if (stuck && stuck->in_step_s >= kStandsOut * most_s) return stuck;
  if (paces.size() == live.size()) {
    slowest->times = most_s / Median(std::move(paces));
    return slowest;
  }
  const auto [low, high] = std::ranges::minmax_element(live, {}, &WorkerStatus::iteration);
  if ((*low)->iteration == (*high)->iteration) return std::nullopt;
  return Slowest{.rank = (*low)->rank, .behind = (*high)->iteration - (*low)->iteration};
}

std::string ToText(const Slowest& slowest) {
  if (slowest.in_step_s > 0) return fmt::format("w{} {:.0f} s in a step", slowest.rank, slowest.in_step_s);
  if (slowest.times > 0) return fmt::format("w{} {:.1f}x", slowest.rank, slowest.times);
  return fmt::format("w{} {} steps behind", slowest.rank, slowest.behind);
}

}  // namespace leeway::app
