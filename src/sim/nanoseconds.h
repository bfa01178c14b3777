// A computed time as a Duration. Times over thirty years are cut to that, so that sums of times that a model
// makes up stay in range.
#pragma once

#include <algorithm>

#include "leeway/env.h"

namespace leeway::sim {

[[nodiscard]] inline Duration Nanoseconds(double ns) {
  constexpr double kLongest = 1e18;
  return Duration(static_cast<Duration::rep>(std::clamp(ns, 0.0, kLongest)));
}
[[nodiscard]] inline Duration SecondsAsDuration(double s) { return Nanoseconds(s * 1e9); }

}  // namespace leeway::sim
