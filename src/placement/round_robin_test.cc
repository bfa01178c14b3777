#include <gtest/gtest.h>

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
  const std::vector<PlacedShard> shards = {
      {ShardId(0), ServerId(0)}, {ShardId(1), ServerId(0)}, {ShardId(2), ServerId(1)}};
  EXPECT_EQ((*placement)->Place(RoundRobinBlocks(4), shards, 0),
            (std::vector<ShardId>{ShardId(0), ShardId(1), ShardId(2), ShardId(0)}));
  EXPECT_EQ((*placement)->Place(RoundRobinBlocks(3), shards, 4),
            (std::vector<ShardId>{ShardId(1), ShardId(2), ShardId(0)}));
}

TEST(RoundRobinTest, TakesNoArguments) {
  const auto placement = BuiltinPlacements().MakeFromSpec("round_robin:3");
  ASSERT_FALSE(placement.ok());
  EXPECT_EQ(placement.status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace leeway
