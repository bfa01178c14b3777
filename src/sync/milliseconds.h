// Times in specs: milliseconds with a fraction, kept to the nanosecond.
#pragma once

#include <cmath>
#include <string_view>

#include "base/policy_config.h"
#include "leeway/env.h"

namespace leeway {

// At most an hour: a longer wait for the others is a hang, not tuning.
inline constexpr double kMillisecondsMax = 3'600'000.0;

// Zero if the spec names no time.
[[nodiscard]] inline Result<Duration> MillisecondsOf(const PolicyConfig& config, std::string_view key) {
  LW_ASSIGN_OR_RETURN(const double ms, config.DoubleInRange(key, 0.0, kMillisecondsMax, 0.0));
  return Duration(std::llround(ms * 1e6));
}
[[nodiscard]] inline double InMilliseconds(Duration time) { return static_cast<double>(time.count()) / 1e6; }

}  // namespace leeway
