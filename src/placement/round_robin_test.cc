#include <gtest/gtest.h>

#include <algorithm>

#include "placement/placements.h"

namespace leeway {
namespace {

std::vector<PlacedBlock> RoundRobinBlocks(std::uint32_t n) {
  std::vector<PlacedBlock> blocks;
  for (std::uint32_t i = 0; i < n; ++i) blocks.push_back({BlockId(i), TableId(0), 4096});
  return blocks;
}

TEST(RoundRobinTest, GoesOnWhereTheTablesBeforeStopped) {
  const auto placement = BuiltinPlacements().MakeFromSpec("round_robin");
  ASSERT_TRUE(placement.ok()) << placement.status().ToString();
  std::vector<PlacedShard> shards = {
      {ShardId(0), ServerId(0)}, {ShardId(1), ServerId(0)}, {ShardId(2), ServerId(1)}};
  EXPECT_EQ((*placement)->Place(RoundRobinBlocks(4), shards),
            (std::vector<ShardId>{ShardId(0), ShardId(1), ShardId(2), ShardId(0)}));
  shards[0].blocks = 2;
  shards[1].blocks = shards[2].blocks = 1;
  EXPECT_EQ((*placement)->Place(RoundRobinBlocks(3), shards),
            (std::vector<ShardId>{ShardId(1), ShardId(2), ShardId(0)}));
}

TEST(RoundRobinTest, CountsOfBlocksAreEvenWithinOneOverAllRounds) {
  const auto placement = BuiltinPlacements().MakeFromSpec("round_robin");
  ASSERT_TRUE(placement.ok()) << placement.status().ToString();
  for (const std::uint32_t n : {1U, 2U, 3U, 8U, 12U}) {
    std::vector<PlacedShard> shards;
    for (std::uint32_t s = 0; s < n; ++s) shards.push_back({ShardId(s), ServerId(s)});
    for (const std::uint32_t round : {0U, 1U, 5U, 13U, 2U}) {
      for (const ShardId shard : (*placement)->Place(RoundRobinBlocks(round), shards)) {
        ++shards[shard.index()].blocks;
      }
    }
    const auto [low, high] = std::ranges::minmax_element(shards, {}, &PlacedShard::blocks);
    EXPECT_LE(high->blocks - low->blocks, 1U) << n << " shards";
  }
}

TEST(RoundRobinTest, ABlockWhoseOwnerIsThereStays) {
  const auto placement = BuiltinPlacements().MakeFromSpec("round_robin");
  ASSERT_TRUE(placement.ok()) << placement.status().ToString();
  const std::vector<PlacedShard> now = {{ShardId(0), ServerId(0)}, {ShardId(2), ServerId(2)}};
  const std::vector<ShardId> owners = {ShardId(0), ShardId(1), ShardId(2), ShardId(0), ShardId(1)};
  EXPECT_EQ((*placement)->Rebalance(RoundRobinBlocks(5), owners, now),
            (std::vector<ShardId>{ShardId(0), ShardId(2), ShardId(2), ShardId(0), ShardId(0)}));
}

TEST(RoundRobinTest, TakesNoArguments) {
  const auto placement = BuiltinPlacements().MakeFromSpec("round_robin:3");
  ASSERT_FALSE(placement.ok());
  EXPECT_EQ(placement.status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace leeway
