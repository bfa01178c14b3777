// OwnPause: the time during which a node itself did not run. Its peers were not silent then.
#pragma once

#include "leeway/env.h"

namespace leeway {

// How late a timer that was due at `due` fires, if the node must have stood still (a stopped process, a
// frozen machine, a busy loop). It has not read yet what its peers sent meanwhile. Zero if the timer is only
// a little late.
[[nodiscard]] constexpr Duration OwnPause(TimePoint due, TimePoint now, Duration beat) {
  const Duration late = now - due;
  return late > 3 * beat ? late : Duration::zero();
}

}  // namespace leeway
