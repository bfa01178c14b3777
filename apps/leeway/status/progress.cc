#include "status/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "terminal/quantity.h"

namespace leeway::app {
namespace {

// Workers report once a second, each at its own time: over a few seconds the rate neither flickers nor lags.
constexpr double kRateWindow_s = 4;

constexpr std::size_t kBarColumnsMin = 8, kBarColumnsMax = 24;  // between the brackets

std::string DrawBar(double share, std::size_t columns) {
  const auto filled =
      static_cast<std::size_t>(std::floor(std::clamp(share, 0.0, 1.0) * static_cast<double>(columns)));
  std::string bar = "[" + std::string(filled, '=');
  if (filled < columns) bar += ">" + std::string(columns - filled - 1, ' ');
  return bar + "]";
}

}  // namespace

void Progress::Add(const JobStatus& status, double at_s) {
  phase_ = status.phase;
  joined_ = 0;
  step_ = -1;
  for (const WorkerStatus& worker : status.workers) {
    if (!IsLive(worker)) continue;
    step_ = joined_ == 0 ? worker.iteration : std::min(step_, worker.iteration);
    ++joined_;
  }
  pace_.Add(status, at_s);
  if (const std::optional<double> share = status.ShareDone()) share_ = share;
  training_s_ = status.training_s;
  mean_rate_ = status.SamplesPerSecond();

  samples_.emplace_back(at_s, status.OfWorkers("samples"));
  while (samples_.size() > 2 && at_s - samples_[1].first >= kRateWindow_s) samples_.pop_front();

  const double gradients = status.OfShards("staleness_gradients");
  const double staleness_sum = status.OfShards("staleness_sum");
  if (gradients > gradients_)
    staleness_ = std::max(0.0, staleness_sum - staleness_sum_) / (gradients - gradients_);
  gradients_ = gradients;
  staleness_sum_ = staleness_sum;
}

double Progress::SamplesPerSecond() const {
  if (samples_.size() < 2) return mean_rate_;
  const auto& [from_s, before] = samples_.front();
  const auto& [to_s, after] = samples_.back();
  return to_s > from_s ? std::max(0.0, (after - before) / (to_s - from_s)) : mean_rate_;
}

std::optional<double> Progress::Left_s() const {
  constexpr double kShareMin = 0.02;
  if (phase_ != "running" || !share_ || *share_ <= kShareMin || *share_ >= 1 || training_s_ <= 0)
    return std::nullopt;
  return training_s_ * (1 - *share_) / *share_;
}

std::vector<Progress::Piece> Progress::Pieces() const {
  if (phase_ == "gathering") return {{0, fmt::format("gathering: {} of {} workers", joined_, workers_)}};
  if (phase_ == "ended") return {{0, "job over, scripts go on"}};
  if (phase_ != "running") return {{0, phase_}};
  if (joined_ == 0) return {{0, "all workers have left"}};
  std::vector<Piece> pieces;
  if (const std::optional<double> left_s = Left_s())
    pieces.push_back({0, fmt::format("{} left", ShortTime(*left_s))});
  pieces.push_back({3, step_ >= 0 ? fmt::format("step {}", step_) : std::string("first step")});
  pieces.push_back({0, fmt::format("{} samples/s", ShortCount(SamplesPerSecond()))});
  if (const std::optional<Slowest>& slowest = pace_.slowest())
    pieces.push_back({1, "slowest " + ToText(*slowest)});
  // Where every gradient is computed on the newest values there is nothing to say.
  constexpr double kShown = 0.05;
  if (staleness_.value_or(0) >= kShown) pieces.push_back({2, fmt::format("staleness {:.1f}", *staleness_)});
  return pieces;
}

std::string Progress::Bar(double now_s, std::size_t columns) const {
  std::vector<Piece> pieces = Pieces();
  if (share_) pieces.insert(pieces.begin(), {0, fmt::format("{:3.0f}%", std::floor(*share_ * 100))});
  pieces.push_back({4, ShortTime(now_s)});
  const auto width = [&] {
    std::size_t sum = share_ ? kBarColumnsMin + 2 : 0;
    for (const Piece& piece : pieces) sum += piece.text.size() + 2;
    return share_ ? sum : sum - 2;
  };
  while (width() > columns && pieces.size() > 1) {
    const auto least = std::ranges::max_element(pieces, {}, &Piece::rank);
    if (least->rank == 0) break;
    pieces.erase(least);
  }
  std::string text;
  if (share_) {
    const std::size_t spare = columns > width() ? columns - width() : 0;
    text = DrawBar(*share_, std::min(kBarColumnsMin + spare, kBarColumnsMax));
  }
  for (const Piece& piece : pieces) text += (text.empty() ? "" : "  ") + piece.text;
  return text;
}

std::string Progress::Line(double now_s) const {
  std::string text = fmt::format("{:.0f} s", now_s);
  if (share_) text += fmt::format("  {:.0f}%", std::floor(*share_ * 100));
  for (const Piece& piece : Pieces()) text += "  " + piece.text;
  return text;
}

}  // namespace leeway::app
