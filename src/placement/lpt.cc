// lpt: the largest block goes first, and each goes to the shard with the least load (Graham 1969, "longest
// processing time first"). The load of a shard counts the blocks it owns already and those of this round.
//
// PyTorch names a layer's weight and then its bias. Round robin over two servers therefore puts every weight
// on one of them, and that one gets 99.9 % of a small network's bytes. lpt is even for any order of tables:
// no shard ends above another by more than one block of this round, and small blocks fill the gaps of large
// ones.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <utility>

#include "base/policy_config.h"
#include "leeway/placement.h"

namespace leeway {
namespace {

// The cost of a block to a shard beside its bytes, in bytes: ledger, verdict and answer. A push and pull of
// 64 bytes takes a shard 0.42 us and one of 64 KiB takes 11 us (docs/performance.md), so 0.42 us are the time
// of 2.5 KiB.
constexpr std::uint64_t kBlockCostBytes = 2560;

std::uint64_t Cost(std::uint64_t blocks, std::uint64_t bytes) { return bytes + blocks * kBlockCostBytes; }

// The first shard of every server, then the second shard of every server, and so on. Shards with the same
// load take turns in this order, so that two blocks use the network of two servers.
std::vector<PlacedShard> ServersInTurn(std::span<const PlacedShard> shards) {
  std::map<ServerId, std::size_t> seen;
  std::vector<std::pair<std::size_t, PlacedShard>> turns;
  for (const PlacedShard& shard : shards) turns.emplace_back(seen[shard.server]++, shard);
  std::ranges::stable_sort(turns, {}, [](const auto& turn) { return turn.first; });
  std::vector<PlacedShard> ordered;
  ordered.reserve(turns.size());
  for (const auto& [turn, shard] : turns) ordered.push_back(shard);
  return ordered;
}

class Lpt final : public Placement {
 public:
  std::vector<ShardId> Place(std::span<const PlacedBlock> blocks,
                             std::span<const PlacedShard> shards) const override {
    const std::vector<PlacedShard> ordered = ServersInTurn(shards);
    using Load = std::pair<std::uint64_t, std::size_t>;  // of the shard at this place in `ordered`
    std::priority_queue<Load, std::vector<Load>, std::greater<>> least_loaded;
    for (std::size_t s = 0; s < ordered.size(); ++s) {
      least_loaded.emplace(Cost(ordered[s].blocks, ordered[s].bytes), s);
    }
    std::vector<std::size_t> largest_first(blocks.size());
    std::iota(largest_first.begin(), largest_first.end(), 0U);
    std::ranges::stable_sort(largest_first, std::ranges::greater{},
                             [&](std::size_t b) { return blocks[b].bytes; });
    std::vector<ShardId> placed(blocks.size());
    for (const std::size_t b : largest_first) {
      const auto [load, s] = least_loaded.top();
      least_loaded.pop();
      least_loaded.emplace(load + Cost(1, blocks[b].bytes), s);
      placed[b] = ordered[s].shard;
    }
    return placed;
  }
};

}  // namespace

Result<PlacementPtr> MakeLpt(const PolicyConfig&) { return PlacementPtr(std::make_unique<Lpt>()); }

}  // namespace leeway
