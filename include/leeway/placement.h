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
  // The load that is there: what this shard owns already. Tables may come in several rounds.
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
};

// The blocks that all these shards own already.
[[nodiscard]] std::uint64_t BlocksOwned(std::span<const PlacedShard> shards);

class Placement {
 public:
  virtual ~Placement() = default;
  // One shard per block, in the order of `blocks`, which come table by table, tables in the order of their
  // creation. The blocks are new; each shard says what it owns already, so that a strategy can even the load
  // out or go on where it stopped. REQUIRES: shards is not empty.
  [[nodiscard]] virtual std::vector<ShardId> Place(std::span<const PlacedBlock> blocks,
                                                   std::span<const PlacedShard> shards) const = 0;
  // The same after shards came or went: `owners` are the present ones, in the order of `blocks`, and some may
  // not be among `shards`. `blocks` are all blocks there are, so the loads in `shards` are not read. The
  // implementation here is enough: a block stays where its owner is still there, and the others are placed as
  // if they were new. REQUIRES: shards is not empty; an owner per block.
  [[nodiscard]] virtual std::vector<ShardId> Rebalance(std::span<const PlacedBlock> blocks,
                                                       std::span<const ShardId> owners,
                                                       std::span<const PlacedShard> shards) const;
};

using PlacementPtr = std::unique_ptr<Placement>;

}  // namespace leeway
