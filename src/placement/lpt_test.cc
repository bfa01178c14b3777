#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/hash.h"
#include "placement/placements.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;

std::vector<PlacedBlock> LptBlocks(const std::vector<std::uint64_t>& bytes) {
  std::vector<PlacedBlock> blocks;
  for (std::uint32_t b = 0; b < bytes.size(); ++b) blocks.push_back({BlockId(b), TableId(b), bytes[b]});
  return blocks;
}

std::vector<PlacedShard> LptShards(std::uint32_t servers, std::uint32_t each = 1) {
  std::vector<PlacedShard> shards;
  for (std::uint32_t s = 0; s < servers * each; ++s) shards.push_back({ShardId(s), ServerId(s / each)});
  return shards;
}

PlacementPtr MadeLpt() {
  auto placement = BuiltinPlacements().MakeFromSpec("lpt");
  EXPECT_TRUE(placement.ok()) << placement.status().ToString();
  return *std::move(placement);
}

std::vector<std::uint32_t> LptPlaced(const std::vector<std::uint64_t>& bytes,
                                     const std::vector<PlacedShard>& shards) {
  std::vector<std::uint32_t> placed;
  for (const ShardId shard : MadeLpt()->Place(LptBlocks(bytes), shards)) placed.push_back(shard.value());
  return placed;
}

TEST(LptTest, WeightsAndBiasesThatAlternateComeOutEven) {
  EXPECT_THAT(LptPlaced({400'000, 400, 400'000, 400}, LptShards(2)), ElementsAre(0, 0, 1, 1));
  // The largest first: in the order of the tables the last one would come on top of half of the others.
  EXPECT_THAT(LptPlaced({300'000, 300'000, 600'000}, LptShards(2)), ElementsAre(1, 1, 0));
}

TEST(LptTest, GoesOnTopOfTheLoadThatIsThere) {
  std::vector<PlacedShard> shards = LptShards(3);
  shards[0].blocks = shards[2].blocks = 1;
  shards[0].bytes = 1'000'000;
  shards[2].bytes = 500'000;
  EXPECT_THAT(LptPlaced({400'000, 300'000, 200'000}, shards), ElementsAre(1, 1, 2));
}

TEST(LptTest, ABlockCostsMoreThanItsBytes) {
  std::vector<PlacedShard> shards = LptShards(2);
  shards[0].blocks = 100;
  shards[0].bytes = shards[1].bytes = 100'000;
  shards[1].blocks = 1;
  EXPECT_THAT(LptPlaced({1'000, 1'000, 1'000}, shards), ElementsAre(1, 1, 1));
}

TEST(LptTest, BlocksOfOneSizeUseAllServersBeforeTheSecondShardOfOne) {
  EXPECT_THAT(LptPlaced({64, 64, 64, 64, 64}, LptShards(2, 2)), ElementsAre(0, 2, 1, 3, 0));
}

TEST(LptTest, NoShardEndsAboveAnotherByMoreThanTheLargestBlock) {
  const PlacementPtr lpt = MadeLpt();
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const auto n = static_cast<std::uint32_t>(1 + Hash64({seed, 1}) % 12);
    std::vector<PlacedShard> shards = LptShards(n);
    std::uint64_t largest_cost = 0;
    for (std::uint64_t round = 0; round < 3; ++round) {
      std::vector<std::uint64_t> bytes;
      for (std::uint64_t b = 0; b < Hash64({seed, 2, round}) % 60; ++b) {
        bytes.push_back(4 + Hash64({seed, 3, round, b}) % 1'000'000);
        largest_cost = std::max(largest_cost, bytes.back() + 2560);
      }
      const std::vector<ShardId> placed = lpt->Place(LptBlocks(bytes), shards);
      for (std::size_t b = 0; b < bytes.size(); ++b) {
        ++shards[placed[b].index()].blocks;
        shards[placed[b].index()].bytes += bytes[b];
      }
    }
    const auto cost = [](const PlacedShard& shard) { return shard.bytes + 2560 * shard.blocks; };
    const auto [low, high] = std::ranges::minmax_element(shards, {}, cost);
    EXPECT_LE(cost(*high) - cost(*low), largest_cost) << "seed " << seed;
  }
}

TEST(LptTest, ARebalanceEvensBlocksWithoutAnOwnerOntoTheOthers) {
  const std::vector<ShardId> owners = {ShardId(0), ShardId(1), ShardId(0), ShardId(2)};
  const std::vector<PlacedShard> now = {{ShardId(0), ServerId(0)}, {ShardId(2), ServerId(2)}};
  EXPECT_THAT(MadeLpt()->Rebalance(LptBlocks({90'000, 50'000, 90'000, 90'000}), owners, now),
              ElementsAre(ShardId(0), ShardId(2), ShardId(0), ShardId(2)));
}

}  // namespace
}  // namespace leeway
