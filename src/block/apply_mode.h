// ApplyMode: what a block does with a push; parsed from `immediate`, `immediate:scale=staleness`,
// `immediate:dc=0.04,dc_versions=8`, `aggregate:reduce=ordered,window=2`, `relay`, `relay:reduce=ordered`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "leeway/status.h"
#include "sync/sync_policy.h"

namespace leeway {

struct ApplyMode {
  enum class Kind : std::uint8_t { kImmediate, kAggregate } kind = Kind::kImmediate;
  bool ordered = false;     // aggregate: sum by (rank, incarnation), whatever the arrival order
  std::int64_t window = 2;  // aggregate: open iterations
  // Aggregate: the mean of an iteration becomes the content of the block, and workers step with it
  // themselves.
  bool relay = false;
  // Immediate: the step is divided by max(1, (version - base_version) / N). lr is divided by N already, so
  // that one step of every member is one iteration's worth; the age of a gradient is counted alike.
  bool scale_by_staleness = false;
  // Immediate: g + dc * g * g * (w - w_base) is stepped on, where w_base is what g was computed on (DC-ASGD,
  // Zheng et al. 2017); 0 is off. At most dc_versions versions of a block are kept for it.
  float dc = 0.0F;
  std::size_t dc_versions = 0;
};

// Parses `spec` (empty: the model's default) and checks that it fits the model: aggregate needs a bounded
// lead and a window of at least lead + 2 (window=2 by default, or wider when the model needs it and the spec
// names none). A model that sums ahead needs aggregate. Relay needs a model under which every member waits
// for all others.
[[nodiscard]] Result<ApplyMode> MakeApplyMode(std::string_view spec, const SyncModel& model);

// Whether the spec names relay, whatever its arguments.
[[nodiscard]] bool NamesRelay(std::string_view spec);

}  // namespace leeway
