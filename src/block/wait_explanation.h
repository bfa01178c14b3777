// ExplainWaits: says to people which workers wait in a block, under which condition, and for which workers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "block/block_events.h"
#include "leeway/ids.h"
#include "sync/sync_policy.h"

namespace leeway {

// The state of a block that its pulls may wait for.
struct BlockWaitState {
  bool initialized = true;
  Epoch epoch{};  // that the block knows
  Iteration v_train{};
  Release release = Release::kLazy;
  std::vector<WorkerId> missing;  // that iteration v_train lacks
};

// A few waits, a few workers of each, and how many more; at most 512 bytes, as it goes to the scheduler with
// every beat. Empty when nobody waits.
[[nodiscard]] std::string ExplainWaits(std::span<const PullEvent> waiting, const BlockWaitState& causes);

}  // namespace leeway
