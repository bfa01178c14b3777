#include "scenario/compute_time.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/hash.h"
#include "sim/nanoseconds.h"

namespace leeway::scenario {
namespace {

// Names a draw; mixed with seed, rank and iteration.
enum Drawn : std::uint64_t { kOwn = 1, kSpread = 3, kTailCoin = 5, kTail, kPhaseCoin, kPhaseLength, kSample };

// A standard normal draw from two uniform ones (Box and Muller 1958).
double Normal(double a, double b) {
  return std::sqrt(-2.0 * std::log(a)) * std::cos(2.0 * std::numbers::pi * b);
}

}  // namespace

ComputeTime::ComputeTime(const ComputeModel& model, std::uint32_t batch, std::uint64_t seed,
                         std::uint32_t rank)
    : model_(model), seed_(seed), rank_(rank), usual_s_(model.base_s + model.per_sample_s * batch) {
  usual_s_ *= std::exp(model_.heterogeneity * Normal(Draw(0, kOwn), Draw(0, kOwn + 1)));
  for (const auto& [whose, factor] : model_.factors) {
    if (whose == rank) usual_s_ *= factor;
  }
}

double ComputeTime::Draw(std::uint64_t iteration, std::uint64_t what) const {
  return UnitInterval(Hash64({seed_, 0xC0, rank_, iteration, what}));
}

double ComputeTime::PhaseFactor(std::uint64_t iteration) {
  if (model_.phase_chance <= 0) return 1;
  for (; looked_until_ <= iteration; ++looked_until_) {
    if (looked_until_ < slow_until_ || Draw(looked_until_, kPhaseCoin) > model_.phase_chance) continue;
    const double length = -std::log(Draw(looked_until_, kPhaseLength)) * model_.phase_iterations;
    slow_until_ =
        looked_until_ + std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(length)));
  }
  return iteration < slow_until_ ? model_.phase_factor : 1;
}

Duration ComputeTime::Of(std::uint64_t iteration) {
  double seconds = usual_s_ * PhaseFactor(iteration);
  if (!model_.samples.empty()) {
    const std::vector<float>& samples = model_.samples[rank_ % model_.samples.size()];
    const auto drawn =
        static_cast<std::size_t>(Draw(iteration, kSample) * static_cast<double>(samples.size()));
    if (!samples.empty()) seconds *= samples[std::min(drawn, samples.size() - 1)];
  }
  if (model_.spread > 0) {
    seconds *= std::exp(model_.spread * Normal(Draw(iteration, kSpread), Draw(iteration, kSpread + 1)));
  }
  if (model_.tail_chance > 0 && Draw(iteration, kTailCoin) <= model_.tail_chance) {
    seconds *= std::min(model_.tail_max, std::pow(Draw(iteration, kTail), -1.0 / model_.tail_alpha));
  }
  return sim::SecondsAsDuration(seconds);
}

}  // namespace leeway::scenario
