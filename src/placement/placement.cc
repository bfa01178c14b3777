#include "leeway/placement.h"

#include <cstddef>
#include <map>

namespace leeway {

std::uint64_t BlocksOwned(std::span<const PlacedShard> shards) {
  std::uint64_t blocks = 0;
  for (const PlacedShard& shard : shards) blocks += shard.blocks;
  return blocks;
}

std::vector<ShardId> Placement::Rebalance(std::span<const PlacedBlock> blocks,
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
