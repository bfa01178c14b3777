// The figures of a shard, as it reports them with every beat.
#pragma once

#include <cstdint>

#include "monitor/figures.h"
#include "node/server/block_store.h"
#include "node/server/delayed_pulls.h"
#include "node/server/staleness_counts.h"
#include "wire/control.pb.h"

namespace leeway {

struct ShardTraffic {
  std::uint64_t bytes_in = 0, bytes_out = 0;
  std::uint64_t frames_in = 0;
  std::uint64_t moved = 0;      // entries for blocks that are not here
  std::uint64_t no_memory = 0;  // entries that there was no memory to land
  std::uint64_t reports = 0;
};

[[nodiscard]] Figures ShardFigures(const BlockStore& blocks, const ShardTraffic& traffic,
                                   const DelayedPulls& delayed, const StalenessCounts& staleness);
// The same as a report to the scheduler, with what the first block that holds somebody up waits for.
[[nodiscard]] wire::pb::Report ShardReport(const BlockStore& blocks, const ShardTraffic& traffic,
                                           const DelayedPulls& delayed, const StalenessCounts& staleness);

}  // namespace leeway
