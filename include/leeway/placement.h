// Placement: which shard owns which block. One file per strategy in src/placement/; asked by the scheduler
// alone.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "leeway/ids.h"
#include "leeway/status.h"

namespace leeway {

struct PlacedBlock {
  BlockId block;
  TableId table;
  std::uint64_t bytes = 0;
};

struct PlacedShard {
  ShardId shard;
  ServerId server;
};

class Placement {
 public:
  virtual ~Placement() = default;
  // One shard per block, in the order of `blocks`. `before` counts blocks placed earlier (tables may come in
  // several rounds), so that a strategy can go on where it stopped. REQUIRES: shards is not empty.
  [[nodiscard]] virtual std::vector<ShardId> Place(std::span<const PlacedBlock> blocks,
                                                   std::span<const PlacedShard> shards,
                                                   std::uint64_t before) const = 0;
};

using PlacementPtr = std::unique_ptr<Placement>;

}  // namespace leeway
