// ArraysWanted: what a worker may ask of a table outside of any iteration, and how it gets it.
#pragma once

#include <cstdint>
#include <functional>

#include "leeway/status.h"
#include "leeway/worker.h"

namespace leeway {

enum class ArraysWanted : std::uint8_t {
  kValues,
  kNewerValues,  // none if those in use are the newest
  kState,        // of the optimizer
};

// Without arrays: the servers have nothing newer, or the optimizer has no state.
using ArraysDone = std::function<void(const Status&, TableState)>;

}  // namespace leeway
