#include "scenario/run_record.h"

#include <algorithm>
#include <cmath>

namespace leeway::scenario {
namespace {

// 12 bins for a power of ten, from 10 us on: up to 200 s.
constexpr double kShortest_s = 1e-5;
constexpr double kBinsOfTen = 12;

}  // namespace

std::size_t TimeBinOf(double seconds) {
  const double bin = std::floor(std::log10(std::max(seconds, kShortest_s) / kShortest_s) * kBinsOfTen);
  return std::min(static_cast<std::size_t>(std::max(bin, 0.0)), kTimeBins - 1);
}

double TimeBinMiddle(std::size_t bin) {
  return kShortest_s * std::pow(10.0, (static_cast<double>(bin) + 0.5) / kBinsOfTen);
}

}  // namespace leeway::scenario
