#include "launch/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cli/quantity.h"

namespace leeway::app {
namespace {

// Workers report once a second, each at its own time: over a few seconds the rate neither flickers nor lags.
constexpr double kRateWindow_s = 4;

bool IsLive(const WorkerStatus& worker) { return worker.state == "joined" || worker.state == "suspect"; }

// Seconds of computing per iteration, the slowness that was asked for with them, if the worker reports any.
std::optional<double> Pace(const WorkerStatus& worker) {
  const double compute_s = Figure(worker.figures, "compute_s") + Figure(worker.figures, "slowed_s");
  if (compute_s <= 0 || worker.iteration < 1) return std::nullopt;
  return compute_s / static_cast<double>(worker.iteration);
}

// The worker that takes longest per iteration, against the median; without such figures the one furthest
// behind.
std::string Slowest(const std::vector<const WorkerStatus*>& live) {
  // Not before every one has told of itself: it would look as far behind as the others have come.
  const auto silent = [](const WorkerStatus* worker) { return worker->iteration < 1; };
  if (live.size() < 2 || std::ranges::any_of(live, silent)) return {};
  std::vector<double> paces;
  const WorkerStatus* slowest = nullptr;
  for (const WorkerStatus* worker : live) {
    const std::optional<double> pace = Pace(*worker);
    if (!pace) continue;
    if (paces.empty() || *pace > *std::max_element(paces.begin(), paces.end())) slowest = worker;
    paces.push_back(*pace);
  }
  if (paces.size() == live.size()) {
    const double most = *std::max_element(paces.begin(), paces.end());
    const auto middle = paces.begin() + static_cast<std::ptrdiff_t>((paces.size() - 1) / 2);
    std::nth_element(paces.begin(), middle, paces.end());
    return fmt::format("w{} {:.1f}x", slowest->rank, most / *middle);
  }
  const auto by_iteration = [](const WorkerStatus* a, const WorkerStatus* b) {
    return a->iteration < b->iteration;
  };
  const auto [low, high] = std::minmax_element(live.begin(), live.end(), by_iteration);
  if ((*low)->iteration == (*high)->iteration) return "none";
  return fmt::format("w{} -{}", (*low)->rank, (*high)->iteration - (*low)->iteration);
}

}  // namespace

void Progress::Add(const JobStatus& status, double at_s) {
  phase_ = status.phase;
  if (phase_ == "running" && !running_since_s_) running_since_s_ = at_s;

  std::vector<const WorkerStatus*> live;
  for (const WorkerStatus& worker : status.workers) {
    if (IsLive(worker)) live.push_back(&worker);
  }
  joined_ = live.size();
  for (const WorkerStatus* worker : live) {
    if (worker == live.front() || worker->iteration < step_) step_ = worker->iteration;
  }
  slowest_ = Slowest(live);

  std::uint64_t batches = 0;
  std::uint64_t done = 0;
  for (const PoolStatus& pool : status.pools) {
    batches += pool.batches;
    done += pool.done;
  }
  if (batches > 0) share_ = static_cast<double>(done) / static_cast<double>(batches);

  samples_.emplace_back(at_s, status.OfWorkers("samples"));
  while (samples_.size() > 2 && at_s - samples_[1].first >= kRateWindow_s) samples_.pop_front();

  const double answers = status.OfWorkers("answers");
  const double staleness_sum = status.OfWorkers("staleness_sum");
  if (answers > answers_) staleness_ = std::max(0.0, staleness_sum - staleness_sum_) / (answers - answers_);
  answers_ = answers;
  staleness_sum_ = staleness_sum;
}

double Progress::SamplesPerSecond() const {
  if (samples_.size() < 2) return 0;
  const auto& [from_s, before] = samples_.front();
  const auto& [to_s, after] = samples_.back();
  return to_s > from_s ? std::max(0.0, (after - before) / (to_s - from_s)) : 0;
}

std::string Progress::Figures() const {
  if (phase_ == "gathering") return fmt::format("gathering: {} of {} workers", joined_, workers_);
  if (phase_ == "ended") return "job over, scripts go on";
  if (phase_ != "running") return phase_;
  if (joined_ == 0) return "all workers have left";
  std::string text = step_ >= 0 ? fmt::format("step {}", step_) : std::string("first step");
  text += fmt::format("  {} samples/s", ShortCount(SamplesPerSecond()));
  if (!slowest_.empty()) text += "  slowest " + slowest_;
  text += fmt::format("  staleness {:.1f}", staleness_);
  return text;
}

std::string Progress::Bar(double now_s) const {
  std::string text;
  if (share_) {
    const int filled = static_cast<int>(std::floor(std::clamp(*share_, 0.0, 1.0) * kBarColumns));
    text = "[" + std::string(static_cast<std::size_t>(filled), '=');
    if (filled < kBarColumns)
      text += ">" + std::string(static_cast<std::size_t>(kBarColumns - filled - 1), ' ');
    text += fmt::format("] {:3.0f}%  ", std::floor(*share_ * 100));
  }
  text += Figures() + "  " + ShortTime(now_s);
  // Below 2 % the guess is worth nothing.
  if (share_ && running_since_s_ && phase_ == "running" && *share_ > 0.02 && *share_ < 1) {
    text += fmt::format(", {} left", ShortTime((now_s - *running_since_s_) * (1 - *share_) / *share_));
  }
  return text;
}

std::string Progress::Line(double now_s) const {
  std::string text = fmt::format("{:.0f} s", now_s);
  if (share_) text += fmt::format("  {:.0f}%", std::floor(*share_ * 100));
  return text + "  " + Figures();
}

}  // namespace leeway::app
