#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "base/hash.h"
#include "placement/placements.h"

namespace leeway {
namespace {

using Bytes = std::vector<std::uint64_t>;

// One table of blocks of these sizes.
std::vector<PlacedBlock> EpsBlocks(const Bytes& sizes) {
  std::vector<PlacedBlock> blocks;
  for (const std::uint64_t bytes : sizes) {
    blocks.push_back({BlockId(static_cast<std::uint32_t>(blocks.size())), TableId(0), bytes});
  }
  return blocks;
}

// Shards [first, first + n), a server each.
std::vector<PlacedShard> EpsShards(std::uint32_t first, std::uint32_t n) {
  std::vector<PlacedShard> shards;
  for (std::uint32_t s = first; s < first + n; ++s) shards.push_back({ShardId(s), ServerId(s)});
  return shards;
}

std::vector<ShardId> EpsIds(const std::vector<std::uint32_t>& ids) {
  std::vector<ShardId> shards;
  for (const std::uint32_t id : ids) shards.emplace_back(id);
  return shards;
}

PlacementPtr MadeEps() {
  auto placement = BuiltinPlacements().MakeFromSpec("eps");
  EXPECT_TRUE(placement.ok()) << placement.status().ToString();
  return *std::move(placement);
}

// By shard; zero for those that own nothing.
std::map<ShardId, std::uint64_t> EpsLoads(const Bytes& sizes, const std::vector<ShardId>& owners,
                                          const std::vector<PlacedShard>& shards) {
  std::map<ShardId, std::uint64_t> loads;
  for (const PlacedShard& shard : shards) loads[shard.shard] = 0;
  for (std::size_t b = 0; b < sizes.size(); ++b) loads[owners[b]] += sizes[b];
  return loads;
}

std::uint64_t Heaviest(const std::map<ShardId, std::uint64_t>& loads) {
  return std::ranges::max_element(loads, {}, [](const auto& load) { return load.second; })->second;
}
std::uint64_t Lightest(const std::map<ShardId, std::uint64_t>& loads) {
  return std::ranges::min_element(loads, {}, [](const auto& load) { return load.second; })->second;
}

// Draws of a property test: the same in every run, told apart by `seed`.
class EpsDraws {
 public:
  explicit EpsDraws(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t Below(std::uint64_t n) { return Hash64({seed_, ++drawn_}) % n; }
  // Blocks as jobs have them: most of the largest size, or all small, or anything.
  Bytes Sizes(std::size_t count_max) {
    Bytes sizes(Below(count_max + 1));
    const std::uint64_t kind = Below(4);
    for (std::uint64_t& bytes : sizes) {
      bytes = kind == 0   ? 4096
              : kind == 1 ? 1 + Below(7)
              : kind == 2 ? (Below(3) == 0 ? 4 * (1 + Below(1024)) : 4096)
                          : std::uint64_t{1} << Below(20);
    }
    return sizes;
  }

 private:
  const std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
};

// The fewest bytes of the heaviest run over all ways to cut: run by run, by the last cut.
std::uint64_t LeastHeaviestByTrying(const Bytes& sizes, std::size_t runs) {
  Bytes best(sizes.size() + 1, std::numeric_limits<std::uint64_t>::max());
  best[0] = 0;
  for (std::size_t run = 0; run < runs; ++run) {
    for (std::size_t end = sizes.size() + 1; end-- > 0;) {
      std::uint64_t last = 0;
      for (std::size_t begin = end; begin-- > 0;) {
        last += sizes[begin];
        best[end] = std::min(best[end], std::max(best[begin], last));
      }
    }
  }
  return best[sizes.size()];
}

TEST(EpsTest, ShardsHaveRunsOfEvenBytes) {
  EXPECT_EQ(MadeEps()->Place(EpsBlocks({1, 1, 1, 1, 4, 2, 2}), EpsShards(0, 3)),
            EpsIds({0, 0, 0, 0, 1, 2, 2}));
  // Not 3, 3, 3 and 1.
  EXPECT_EQ(MadeEps()->Place(EpsBlocks({1, 1, 1, 1, 1, 1, 1, 1, 1, 1}), EpsShards(0, 4)),
            EpsIds({0, 0, 1, 1, 2, 2, 2, 3, 3, 3}));
}

TEST(EpsTest, NoOtherRunsHaveALighterHeaviest) {
  const PlacementPtr eps = MadeEps();
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    EpsDraws draws(seed);
    const Bytes sizes = draws.Sizes(30);
    const auto n = static_cast<std::uint32_t>(1 + draws.Below(12));
    const std::vector<PlacedShard> shards = EpsShards(0, n);
    const std::vector<ShardId> placed = eps->Place(EpsBlocks(sizes), shards);
    ASSERT_EQ(placed.size(), sizes.size()) << "seed " << seed;
    EXPECT_TRUE(std::ranges::is_sorted(placed)) << "seed " << seed;
    const std::uint64_t heaviest = Heaviest(EpsLoads(sizes, placed, shards));
    EXPECT_EQ(heaviest, LeastHeaviestByTrying(sizes, n)) << "seed " << seed;
    if (sizes.empty()) continue;
    const std::uint64_t total = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
    EXPECT_LT(heaviest * n, total + std::ranges::max(sizes) * n) << "seed " << seed;
  }
}

TEST(EpsTest, TablesThatComeOneByOneGoAround) {
  const PlacementPtr eps = MadeEps();
  std::map<ShardId, int> count;
  std::vector<PlacedShard> shards = EpsShards(0, 4);
  for (; shards[0].blocks < 12; ++shards[0].blocks) ++count[eps->Place(EpsBlocks({64}), shards)[0]];
  for (std::uint32_t s = 0; s < 4; ++s) EXPECT_EQ(count[ShardId(s)], 3);
}

// The bytes that any way to an even load must move, times the number of shards; and the number of shards
// above an even share.
struct LeastMove {
  LeastMove(const Bytes& sizes, const std::vector<ShardId>& owners, const std::vector<PlacedShard>& shards) {
    const std::uint64_t total = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
    std::map<ShardId, std::uint64_t> loads = EpsLoads(sizes, owners, shards);
    for (const PlacedShard& shard : shards) {
      const std::uint64_t load = loads[shard.shard] * shards.size();
      loads.erase(shard.shard);
      if (load <= total) continue;
      bytes_times_shards += load - total;
      ++above;
    }
    for (const auto& [gone, load] : loads) bytes_times_shards += load * shards.size();
  }
  std::uint64_t bytes_times_shards = 0;
  std::uint64_t above = 0;
};

std::uint64_t MovedBytes(const Bytes& sizes, const std::vector<ShardId>& from,
                         const std::vector<ShardId>& to) {
  std::uint64_t moved = 0;
  for (std::size_t b = 0; b < sizes.size(); ++b) moved += from[b] == to[b] ? 0 : sizes[b];
  return moved;
}

TEST(EpsTest, ARebalancedLoadIsEvenWithinABlockAndLittleMoreThanTheLeastMoves) {
  const PlacementPtr eps = MadeEps();
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    EpsDraws draws(seed);
    const Bytes sizes = draws.Sizes(200);
    // Some go, some come, some stay: owners are of [0, n), afterwards there are [first, first + m).
    const auto n = static_cast<std::uint32_t>(1 + draws.Below(16));
    const auto first = static_cast<std::uint32_t>(draws.Below(n + 1));
    const std::vector<PlacedShard> shards = EpsShards(first, static_cast<std::uint32_t>(1 + draws.Below(16)));
    std::vector<ShardId> owners = eps->Place(EpsBlocks(sizes), EpsShards(0, n));
    if (draws.Below(2) == 0) {  // or they are anywhere
      for (ShardId& owner : owners)
        owner = ShardId(static_cast<std::uint32_t>(draws.Below(1 + draws.Below(n))));
    }
    const std::vector<ShardId> now = eps->Rebalance(EpsBlocks(sizes), owners, shards);
    ASSERT_EQ(now.size(), sizes.size()) << "seed " << seed;
    const std::map<ShardId, std::uint64_t> loads = EpsLoads(sizes, now, shards);
    ASSERT_EQ(loads.size(), shards.size()) << "a shard that is not there; seed " << seed;
    EXPECT_EQ(eps->Rebalance(EpsBlocks(sizes), owners, shards), now) << "seed " << seed;
    if (sizes.empty()) continue;
    const std::uint64_t largest = std::ranges::max(sizes);
    EXPECT_LE(Heaviest(loads) - Lightest(loads), largest) << "seed " << seed;
    const LeastMove least(sizes, owners, shards);
    const std::uint64_t moved = MovedBytes(sizes, owners, now) * shards.size();
    if (least.above == 0) {
      EXPECT_EQ(moved, least.bytes_times_shards) << "seed " << seed;
    } else {
      EXPECT_LT(moved, least.bytes_times_shards + least.above * largest * shards.size()) << "seed " << seed;
    }
  }
}

TEST(EpsTest, WhatIsEvenStays) {
  const std::vector<ShardId> owners = EpsIds({2, 0, 1, 1, 0, 2, 2});
  EXPECT_EQ(MadeEps()->Rebalance(EpsBlocks(Bytes(7, 64)), owners, EpsShards(0, 3)), owners);
}

TEST(EpsTest, ANewShardGetsItsShareAndNoBlockMovesBetweenOthers) {
  const Bytes sizes(80, 64);  // ten each
  const PlacementPtr eps = MadeEps();
  const std::vector<ShardId> owners = eps->Place(EpsBlocks(sizes), EpsShards(0, 8));
  const std::vector<ShardId> now = eps->Rebalance(EpsBlocks(sizes), owners, EpsShards(0, 9));
  EXPECT_EQ(MovedBytes(sizes, owners, now), 8U * 64U);
  EXPECT_EQ(std::ranges::count(now, ShardId(8)), 8);
}

TEST(EpsTest, WhenAShardGoesItsBlocksAloneMove) {
  const Bytes sizes(90, 64);  // ten each
  const PlacementPtr eps = MadeEps();
  const std::vector<ShardId> owners = eps->Place(EpsBlocks(sizes), EpsShards(0, 9));
  const std::vector<ShardId> now = eps->Rebalance(EpsBlocks(sizes), owners, EpsShards(1, 8));
  EXPECT_EQ(MovedBytes(sizes, owners, now), 10U * 64U);
}

}  // namespace
}  // namespace leeway
