#include <gtest/gtest.h>

#include <vector>

#include "placement/placements.h"

namespace leeway {
namespace {

// The shards of so many blocks, each a table, when all shards own `before` blocks together.
std::vector<std::uint32_t> RawKeysPlaced(std::uint32_t blocks, std::vector<PlacedShard> shards,
                                         std::uint64_t before = 0) {
  shards.back().blocks = before;
  std::vector<PlacedBlock> asked;
  for (std::uint32_t b = 0; b < blocks; ++b) asked.push_back({BlockId(b), TableId(b), 4096});
  const auto placement = BuiltinPlacements().MakeFromSpec("raw_keys");
  EXPECT_TRUE(placement.ok()) << placement.status().ToString();
  std::vector<std::uint32_t> placed;
  for (const ShardId shard : (*placement)->Place(asked, shards)) placed.push_back(shard.value());
  return placed;
}

using Shards = std::vector<std::uint32_t>;

TEST(RawKeysTest, TheFirstServerOwnsEveryBlock) {
  EXPECT_EQ(
      RawKeysPlaced(4, {{ShardId(0), ServerId(0)}, {ShardId(1), ServerId(1)}, {ShardId(2), ServerId(2)}}),
      (Shards{0, 0, 0, 0}));
  // Also where the others have less to do already, and where it is not listed first.
  EXPECT_EQ(RawKeysPlaced(2, {{ShardId(5), ServerId(1)}, {ShardId(4), ServerId(0)}}, 7), (Shards{4, 4}));
}

TEST(RawKeysTest, ItsShardsTakeTurns) {
  const std::vector<PlacedShard> shards = {{ShardId(0), ServerId(0)},
                                           {ShardId(1), ServerId(0)},
                                           {ShardId(2), ServerId(1)},
                                           {ShardId(3), ServerId(1)}};
  EXPECT_EQ(RawKeysPlaced(3, shards), (Shards{0, 1, 0}));
  EXPECT_EQ(RawKeysPlaced(3, shards, 3), (Shards{1, 0, 1}));
}

}  // namespace
}  // namespace leeway
