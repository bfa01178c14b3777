// Placement: chooses the shard that owns each block. One file per strategy in src/placement/; the scheduler
// alone calls it. Stateless: the same question has the same answer in every process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
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
[[nodiscard]] inline std::uint64_t BlocksOwned(std::span<const PlacedShard> shards) {
  std::uint64_t blocks = 0;
  for (const PlacedShard& shard : shards) blocks += shard.blocks;
  return blocks;
}

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
  [[nodiscard]] inline virtual std::vector<ShardId> Rebalance(std::span<const PlacedBlock> blocks,
                                                              std::span<const ShardId> owners,
                                                              std::span<const PlacedShard> shards) const;
};

using PlacementPtr = std::unique_ptr<Placement>;

// Inline, and declared so in the class, so that a plug-in needs no library (leeway/plugin.h).
inline std::vector<ShardId> Placement::Rebalance(std::span<const PlacedBlock> blocks,
                                                 std::span<const ShardId> owners,
                                                 std::span<const PlacedShard> shards) const {
  std::vector<PlacedShard> kept(shards.begin(), shards.end());
  std::map<ShardId, PlacedShard*> there;
  for (PlacedShard& shard : kept) {
    shard.blocks = shard.bytes = 0;
    there[shard.shard] = &shard;
  }
  std::vector<PlacedBlock> left;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (const auto owner = there.find(owners[i]); owner != there.end()) {
      ++owner->second->blocks;
      owner->second->bytes += blocks[i].bytes;
    } else {
      left.push_back(blocks[i]);
    }
  }
  const std::vector<ShardId> placed = Place(left, kept);
  std::vector<ShardId> now(owners.begin(), owners.end());
  std::size_t next = 0;
  for (ShardId& owner : now) {
    if (!there.contains(owner)) owner = placed[next++];
  }
  return now;
}

}  // namespace leeway
