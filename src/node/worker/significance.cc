#include "node/worker/significance.h"

#include <cmath>
#include <cstddef>
#include <limits>

#include "base/check.h"

namespace leeway {
namespace {

// Enough independent sums that the loop waits for memory and not for additions.
constexpr std::size_t kLanes = 8;

}  // namespace

double Significance(std::span<const float> gradient, std::span<const float> values) {
  LW_CHECK(gradient.size() == values.size(), "got {} and {} values", gradient.size(), values.size());
  double g[kLanes] = {}, w[kLanes] = {};
  const auto add = [&](std::size_t lane, std::size_t i) {
    const double a = gradient[i], b = values[i];
    g[lane] += a * a;
    w[lane] += b * b;
  };
  std::size_t i = 0;
  for (; i + kLanes <= gradient.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) add(lane, i + lane);
  }
  for (std::size_t lane = 0; i < gradient.size(); ++i, ++lane) add(lane, i);
  double of_g = 0, of_w = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    of_g += g[lane];
    of_w += w[lane];
  }
  const double ratio = std::sqrt(of_g) / std::sqrt(of_w);
  return std::isfinite(ratio) ? ratio : std::numeric_limits<double>::infinity();
}

}  // namespace leeway
