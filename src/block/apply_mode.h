// ApplyMode: what a block does with a push; parsed from `immediate`, `aggregate:reduce=ordered,window=2`.
#pragma once

#include <cstdint>
#include <string_view>

#include "leeway/status.h"
#include "sync/sync_policy.h"

namespace leeway {

struct ApplyMode {
  enum class Kind : std::uint8_t { kImmediate, kAggregate } kind = Kind::kImmediate;
  bool ordered = false;     // aggregate: sum by (rank, incarnation), whatever the arrival order
  std::int64_t window = 2;  // aggregate: open iterations
};

// Parses `spec` (empty: the model's default) and checks that it fits the model: aggregate needs a bounded
// lead and a window of at least lead + 2 (window=2 by default, or wider when the model needs it and the spec
// names none).
[[nodiscard]] Result<ApplyMode> MakeApplyMode(std::string_view spec, const SyncModel& model);

}  // namespace leeway
