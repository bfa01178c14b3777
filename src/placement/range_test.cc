#include <gtest/gtest.h>

#include <vector>

#include "placement/placements.h"

namespace leeway {
namespace {

// Tables of so many blocks each.
std::vector<PlacedBlock> RangeBlocks(const std::vector<std::uint32_t>& tables) {
  std::vector<PlacedBlock> blocks;
  for (std::uint32_t t = 0; t < tables.size(); ++t) {
    for (std::uint32_t b = 0; b < tables[t]; ++b) {
      blocks.push_back({BlockId(static_cast<std::uint32_t>(blocks.size())), TableId(t), 4096});
    }
  }
  return blocks;
}

std::vector<std::uint32_t> RangePlaced(const std::vector<std::uint32_t>& tables,
                                       std::vector<PlacedShard> shards, std::uint64_t before = 0) {
  shards[0].blocks = before;
  const auto placement = BuiltinPlacements().MakeFromSpec("range");
  EXPECT_TRUE(placement.ok()) << placement.status().ToString();
  std::vector<std::uint32_t> placed;
  for (const ShardId shard : (*placement)->Place(RangeBlocks(tables), shards)) {
    placed.push_back(shard.value());
  }
  return placed;
}

std::vector<PlacedShard> TwoServers() { return {{ShardId(0), ServerId(0)}, {ShardId(1), ServerId(1)}}; }

using Shards = std::vector<std::uint32_t>;

TEST(RangeTest, ServersHaveEqualCountsOfTablesWhateverTheirSizes) {
  EXPECT_EQ(RangePlaced({1, 1, 1, 5}, TwoServers()), (Shards{0, 0, 1, 1, 1, 1, 1, 1}));
  // Of an odd count the first has one more.
  EXPECT_EQ(RangePlaced({1, 2, 1}, TwoServers()), (Shards{0, 0, 0, 1}));
}

TEST(RangeTest, FewerTablesThanServersLeaveServersEmpty) {
  const std::vector<PlacedShard> four = {{ShardId(0), ServerId(0)},
                                         {ShardId(1), ServerId(1)},
                                         {ShardId(2), ServerId(2)},
                                         {ShardId(3), ServerId(3)}};
  EXPECT_EQ(RangePlaced({2, 3}, four), (Shards{0, 0, 2, 2, 2}));
}

TEST(RangeTest, ShardsOfTheServerTakeTurns) {
  const std::vector<PlacedShard> shards = {{ShardId(0), ServerId(0)},
                                           {ShardId(1), ServerId(0)},
                                           {ShardId(2), ServerId(1)},
                                           {ShardId(3), ServerId(1)}};
  EXPECT_EQ(RangePlaced({1, 1, 1, 4}, shards), (Shards{0, 1, 2, 3, 2, 3, 2}));
  // Going on where the tables before stopped.
  EXPECT_EQ(RangePlaced({3}, shards, 7), (Shards{1, 0, 1}));
}

TEST(RangeTest, ALaterRoundIsAKeySpaceOfItsOwn) {
  EXPECT_EQ(RangePlaced({1, 1}, TwoServers(), 9), (Shards{0, 1}));
  EXPECT_EQ(RangePlaced({3}, TwoServers(), 11), (Shards{0, 0, 0}));
}

}  // namespace
}  // namespace leeway
