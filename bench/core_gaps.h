// CoreGaps: how often, and for how long, a thread that does nothing but look at the clock loses its core.
//
// To the kernel's tick, to other threads, to the host of a virtual machine; `busy` counts only what the
// kernel knows of. A figure in microseconds, a p99 above all, is the machine's own where this is large.
#pragma once

#include <chrono>

namespace leeway::bench {

struct CoreGaps {
  double per_s = 0;  // gaps of at least 5 microseconds
  double share = 0;  // of the time, 0 to 1
};

// Spins on the calling thread for so long. REQUIRES: more than none.
[[nodiscard]] CoreGaps MeasureCoreGaps(std::chrono::nanoseconds time);

}  // namespace leeway::bench
