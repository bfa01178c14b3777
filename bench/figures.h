// Medians and their like over the repeats of a bench.
#pragma once

#include <vector>

namespace leeway::bench {

// REQUIRES (all): not empty.
[[nodiscard]] double Median(std::vector<double> values);
// (max - min) / median.
[[nodiscard]] double Spread(const std::vector<double>& values);
// The value below which `share` (0 to 1) of `values` lie; reorders them.
[[nodiscard]] double Quantile(std::vector<float>& values, double share);

}  // namespace leeway::bench
