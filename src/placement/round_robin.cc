// Round robin over blocks: the next block goes to the next shard, continuing where the last round of tables
// stopped.
#include "base/policy_config.h"
#include "leeway/placement.h"

namespace leeway {
namespace {

class RoundRobin final : public Placement {
 public:
  std::vector<ShardId> Place(std::span<const PlacedBlock> blocks,
                             std::span<const PlacedShard> shards) const override {
    const std::uint64_t before = BlocksOwned(shards);
    std::vector<ShardId> placed;
    placed.reserve(blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i)
      placed.push_back(shards[(before + i) % shards.size()].shard);
    return placed;
  }
};

}  // namespace

Result<PlacementPtr> MakeRoundRobin(const PolicyConfig&) {
  return PlacementPtr(std::make_unique<RoundRobin>());
}

}  // namespace leeway
