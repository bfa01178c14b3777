// The SpinWorld of the real machine: clock_gettime, getrusage and sched_getaffinity.
#pragma once

#include "base/spin_budget.h"

namespace leeway {

// Has no state, and lives for ever. Any thread.
[[nodiscard]] const SpinWorld& SystemSpinWorld();

}  // namespace leeway
