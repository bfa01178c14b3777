// What a node must not hold against its peers: time during which it did not run itself.
#pragma once

#include "leeway/env.h"

namespace leeway {

// How late a timer that was due at `due` fires, if that is so late that the node must have stood still (a
// stopped process, a frozen machine, a loop that was held up): what its peers sent meanwhile has not been
// read yet. Else zero.
[[nodiscard]] constexpr Duration OwnPause(TimePoint due, TimePoint now, Duration beat) {
  const Duration late = now - due;
  return late > 3 * beat ? late : Duration::zero();
}

}  // namespace leeway
