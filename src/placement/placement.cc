#include "leeway/placement.h"

#include <cstddef>
#include <set>

namespace leeway {

std::vector<ShardId> Placement::Rebalance(std::span<const PlacedBlock> blocks,
                                          std::span<const ShardId> owners,
                                          std::span<const PlacedShard> shards) const {
  std::set<ShardId> there;
  for (const PlacedShard& shard : shards) there.insert(shard.shard);
  std::vector<PlacedBlock> left;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (!there.contains(owners[i])) left.push_back(blocks[i]);
  }
  const std::vector<ShardId> placed = Place(left, shards, blocks.size() - left.size());
  std::vector<ShardId> now(owners.begin(), owners.end());
  std::size_t next = 0;
  for (ShardId& owner : now) {
    if (!there.contains(owner)) owner = placed[next++];
  }
  return now;
}

}  // namespace leeway
