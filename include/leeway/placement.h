// Placement: which shard owns which block. One file per strategy in src/placement/; asked by the scheduler
// alone. Stateless: the same question has the same answer, in every process.
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
  // One shard per block, in the order of `blocks`, which come table by table, tables in the order of their
  // creation. `before` counts blocks placed earlier (tables may come in several rounds), so that a strategy
  // can go on where it stopped. REQUIRES: shards is not empty.
  [[nodiscard]] virtual std::vector<ShardId> Place(std::span<const PlacedBlock> blocks,
                                                   std::span<const PlacedShard> shards,
                                                   std::uint64_t before) const = 0;
  // The same after shards came or went: `owners` are the present ones, in the order of `blocks`, and some may
  // not be among `shards`. What this one does is enough: a block stays where its owner is still there, and
  // the others are placed as if they were new. REQUIRES: shards is not empty; an owner per block.
  [[nodiscard]] virtual std::vector<ShardId> Rebalance(std::span<const PlacedBlock> blocks,
                                                       std::span<const ShardId> owners,
                                                       std::span<const PlacedShard> shards) const;
};

using PlacementPtr = std::unique_ptr<Placement>;

}  // namespace leeway
