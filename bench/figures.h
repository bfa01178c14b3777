// Medians and their like over the repeats of a bench.
#pragma once

#include <string>
#include <vector>

#include "json_line.h"

namespace leeway::bench {

// REQUIRES (all): not empty.
[[nodiscard]] double Median(std::vector<double> values);
// (max - min) / median; 0 where the median is.
[[nodiscard]] double Spread(const std::vector<double>& values);
// The value below which `share` (0 to 1) of `values` lie; reorders them.
[[nodiscard]] double Quantile(std::vector<float>& values, double share);

// Something measured in turns.
struct Figure {
  double median = 0, low = 0, high = 0;
  double spread = 0;
};
[[nodiscard]] Figure Summary(const std::vector<double>& values);
// NAME, NAME_min, NAME_max and NAME_spread.
[[nodiscard]] JsonLine JsonOf(const std::string& name, const Figure& figure);
// `ours` over `theirs`, turn by turn: a machine that drifts meets both. REQUIRES: as many of each.
[[nodiscard]] std::vector<double> Ratios(const std::vector<double>& ours, const std::vector<double>& theirs);

}  // namespace leeway::bench
