// raw_keys: the key ranges of PS-Lite with the plain keys 0, 1, 2, ..., as a baseline for comparison.
//
// PS-Lite cuts the space of 64-bit keys into as many equal ranges as there are servers, and an application
// that numbers its tensors 0, 1, 2, ... uses the lowest keys. 4,096 servers have 2^52 keys each, and a job
// has fewer than 2^32 tables. So all keys are in the first range, and the first server owns the whole model.
// `range` is the same cut with keys that lie evenly over the key space.
//
// PS-Lite has no shards; here the shards of the first server get the blocks in turn.
#include <algorithm>

#include "base/policy_config.h"
#include "leeway/placement.h"

namespace leeway {
namespace {

class RawKeys final : public Placement {
 public:
  std::vector<ShardId> Place(std::span<const PlacedBlock> blocks,
                             std::span<const PlacedShard> shards) const override {
    const ServerId first = std::ranges::min_element(shards, {}, &PlacedShard::server)->server;
    std::vector<ShardId> owners;
    for (const PlacedShard& shard : shards) {
      if (shard.server == first) owners.push_back(shard.shard);
    }
    const std::uint64_t before = BlocksOwned(shards);
    std::vector<ShardId> placed;
    placed.reserve(blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) placed.push_back(owners[(before + i) % owners.size()]);
    return placed;
  }
};

}  // namespace

Result<PlacementPtr> MakeRawKeys(const PolicyConfig&) { return PlacementPtr(std::make_unique<RawKeys>()); }

}  // namespace leeway
