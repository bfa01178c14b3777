// Placement: chooses the shard that owns each block. One file per strategy in src/placement/; the scheduler
// alone calls it. Stateless: the same question has the same answer in every process.
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
  // The load that this shard has already. A job may define its tables in several rounds.
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
};

// Returns the number of blocks that all these shards own already.
[[nodiscard]] std::uint64_t BlocksOwned(std::span<const PlacedShard> shards);

class Placement {
 public:
  virtual ~Placement() = default;
  // Returns one shard per block, in the order of `blocks`. Blocks come table by table, tables in the order of
  // their creation, and all are new. Each shard carries its present load, so that a strategy can even it out
  // or continue where it stopped. REQUIRES: shards is not empty.
  [[nodiscard]] virtual std::vector<ShardId> Place(std::span<const PlacedBlock> blocks,
                                                   std::span<const PlacedShard> shards) const = 0;
  // Returns new owners after shards came or went. `owners` are the present ones, in the order of `blocks`;
  // some may be missing from `shards`. `blocks` are all blocks of the job, so implementations ignore the
  // loads in `shards`. The implementation here is correct for every strategy: a block stays with its owner if
  // that is still there, and the others are placed as new. REQUIRES: shards is not empty; one owner per
  // block.
  [[nodiscard]] virtual std::vector<ShardId> Rebalance(std::span<const PlacedBlock> blocks,
                                                       std::span<const ShardId> owners,
                                                       std::span<const PlacedShard> shards) const;
};

using PlacementPtr = std::unique_ptr<Placement>;

}  // namespace leeway
