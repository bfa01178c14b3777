#include "figures.h"

#include <algorithm>
#include <cstddef>

#include "base/check.h"

namespace leeway::bench {

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double Spread(const std::vector<double>& values) { return Summary(values).spread; }

double Quantile(std::vector<float>& values, double share) {
  const auto at =
      std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

Figure Summary(const std::vector<double>& values) {
  LW_CHECK(!values.empty());
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double median = Median(values);
  return {median, *low, *high, median != 0 ? (*high - *low) / median : 0};
}

JsonLine JsonOf(const std::string& name, const Figure& figure) {
  return JsonLine()
      .Real(name, figure.median)
      .Real(name + "_min", figure.low)
      .Real(name + "_max", figure.high)
      .Real(name + "_spread", figure.spread, 3);
}

std::vector<double> Ratios(const std::vector<double>& ours, const std::vector<double>& theirs) {
  LW_CHECK(ours.size() == theirs.size(), "{} and {} turns", ours.size(), theirs.size());
  std::vector<double> ratios;
  ratios.reserve(ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(ours[i] / theirs[i]);
  return ratios;
}

}  // namespace leeway::bench
