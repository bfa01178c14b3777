// PushFlow: the arrow of one push in a trace, from the worker's frame to the block that takes it. Both ends
// compute its id from what the frame says.
#pragma once

#include <cstdint>

#include "base/hash.h"
#include "leeway/ids.h"

namespace leeway {

inline constexpr const char* kPushFlow = "to server";

[[nodiscard]] constexpr std::uint64_t PushFlowId(WorkerId worker, Incarnation incarnation, BlockId block,
                                                 Seq seq) {
  return Hash64({worker.value(), incarnation.value(), block.value(), seq.value()});
}

}  // namespace leeway
