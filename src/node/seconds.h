// A duration in seconds, for messages and figures.
#pragma once

#include <chrono>

#include "leeway/env.h"

namespace leeway {
[[nodiscard]] constexpr double Seconds(Duration d) { return std::chrono::duration<double>(d).count(); }
}  // namespace leeway
