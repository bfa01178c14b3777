// A gradient on loan: the user's memory, which the node sends from (and resends from) until every block has
// its verdict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/optimizer.h"
#include "leeway/status.h"

namespace leeway {

using Done = std::function<void(const Status&)>;

// A gradient lent to the node until all its blocks have verdicts.
struct LentGradient {
  std::span<const float> values;
  std::shared_ptr<const void> pin;  // shared: sends under way keep it beyond the verdict
  Hyper hyper;
  std::uint32_t samples = 1;
  TimePoint ready = TimePoint::max();  // when the user had it; later than the push: with the push
};

// An array of a table that is set, and is no gradient: 0 is the values, 1 and on are its optimizer's.
struct AssignedArray {
  std::uint8_t array = 0;
  std::uint64_t steps = 0;
  std::size_t blocks_late = 0;  // the optimizer has run there since this worker read them
};

// One gradient, and the verdicts that are still to come.
struct LentPush {
  TableId table;
  Iteration iteration;
  std::uint64_t steps = 0;
  LentGradient gradient;
  Done done;
  std::size_t blocks = 0;
  std::size_t blocks_left = 0;  // without a verdict
  std::size_t blocks_refused = 0;
  std::optional<AssignedArray> assigns;  // it is no gradient
};

}  // namespace leeway
