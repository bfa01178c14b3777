// The contract of every placement: one owner per block, an owner that is there, and the same answer to the
// same question. Each placement tests its own balance (src/placement/imbalance_test.cc).
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "placement/placements.h"
#include "placement_examples.h"

namespace leeway {
namespace {

std::vector<PlacedShard> ContractShards(std::uint32_t servers, std::uint32_t each) {
  std::vector<PlacedShard> shards;
  for (std::uint32_t s = 0; s < servers * each; ++s) shards.push_back({ShardId(s), ServerId(s / each)});
  return shards;
}

// Tables of one to four blocks, of any sizes; ids go on after the `before` earlier ones.
std::vector<PlacedBlock> ContractBlocks(std::uint32_t n, std::uint32_t before) {
  std::vector<PlacedBlock> blocks;
  std::uint32_t table = before;
  for (std::uint32_t b = 0; b < n; ++b) {
    const std::uint64_t draw = Hash64({n, before, b});
    if (b > 0 && draw % 4 == 0) ++table;
    blocks.push_back({BlockId(before + b), TableId(table), 4 + (draw >> 8) % 1000 * 4});
  }
  return blocks;
}

void ExpectOneShardOfTheseForEach(const std::vector<ShardId>& placed, std::size_t blocks,
                                  const std::vector<PlacedShard>& shards) {
  EXPECT_EQ(placed.size(), blocks);
  std::set<ShardId> there;
  for (const PlacedShard& shard : shards) there.insert(shard.shard);
  for (const ShardId shard : placed) EXPECT_TRUE(there.contains(shard)) << "no shard " << shard.value();
}

class PlacementContractTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(placement.ok()) << placement.status().ToString();
    ASSERT_TRUE(again.ok()) << again.status().ToString();
  }
  // Places, and asks the same of another one of that name.
  std::vector<ShardId> Place(const std::vector<PlacedBlock>& blocks, const std::vector<PlacedShard>& shards) {
    const std::vector<ShardId> placed = (*placement)->Place(blocks, shards);
    ExpectOneShardOfTheseForEach(placed, blocks.size(), shards);
    EXPECT_EQ((*again)->Place(blocks, shards), placed);
    return placed;
  }

  const Result<PlacementPtr> placement = BuiltinPlacements().MakeFromSpec(GetParam());
  const Result<PlacementPtr> again = BuiltinPlacements().MakeFromSpec(GetParam());
};

TEST_P(PlacementContractTest, EveryBlockOfEveryRoundHasOneOwnerThatIsThere) {
  for (const std::uint32_t servers : {1U, 2U, 3U, 64U}) {
    for (const std::uint32_t each : {1U, 2U, 4U}) {
      std::vector<PlacedShard> shards = ContractShards(servers, each);
      std::uint32_t before = 0;
      for (const std::uint32_t round : {0U, 1U, 5U, 200U, 13U, 0U, 2U}) {
        const std::vector<PlacedBlock> blocks = ContractBlocks(round, before);
        const std::vector<ShardId> placed = Place(blocks, shards);
        for (std::size_t b = 0; b < placed.size(); ++b) {
          ++shards[placed[b].index()].blocks;
          shards[placed[b].index()].bytes += blocks[b].bytes;
        }
        before += round;
      }
    }
  }
}

TEST_P(PlacementContractTest, OneShardOwnsEverything) {
  std::vector<PlacedShard> shards = ContractShards(1, 1);
  shards[0].blocks = 3;
  for (const ShardId shard : Place(ContractBlocks(50, 3), shards)) EXPECT_EQ(shard, ShardId(0));
}

TEST_P(PlacementContractTest, OneTableOfOneBlockMayHaveMoreShardsThanItNeeds) {
  for (std::uint32_t before = 0; before < 9; ++before) {
    std::vector<PlacedShard> shards = ContractShards(7, 1);
    shards[before % 7].blocks = before;
    Place(ContractBlocks(1, before), shards);
  }
}

TEST_P(PlacementContractTest, BlocksOfEqualAndOfNoSizeArePlaced) {
  for (const std::uint64_t bytes : {0U, 4U}) {
    std::vector<PlacedBlock> blocks = ContractBlocks(20, 0);
    for (PlacedBlock& block : blocks) block.bytes = bytes;
    Place(blocks, ContractShards(3, 2));
  }
}

TEST_P(PlacementContractTest, ARebalancedBlockHasAnOwnerThatIsThere) {
  const std::vector<PlacedShard> all = ContractShards(6, 2);
  for (const std::uint32_t n : {0U, 1U, 5U, 200U}) {
    const std::vector<PlacedBlock> blocks = ContractBlocks(n, 0);
    for (const std::size_t before : {2U, 8U, 12U}) {
      const std::vector<ShardId> owners =
          Place(blocks, {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(before)});
      // Every second server is there: others went, and some of these are new.
      std::vector<PlacedShard> now;
      std::ranges::copy_if(all, std::back_inserter(now),
                           [](const PlacedShard& shard) { return shard.server.value() % 2 == 1; });
      const std::vector<ShardId> moved = (*placement)->Rebalance(blocks, owners, now);
      ExpectOneShardOfTheseForEach(moved, blocks.size(), now);
      EXPECT_EQ((*again)->Rebalance(blocks, owners, now), moved);
    }
  }
}

std::vector<std::string> PlacementSpecs() {
  std::vector<std::string> all;
  for (const auto& [name, specs] : PlacementExamples()) all.insert(all.end(), specs.begin(), specs.end());
  return all;
}

// "range:x=1" is a test called range_x_1.
std::string TestName(const testing::TestParamInfo<std::string>& spec) {
  std::string name = spec.param;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, PlacementContractTest, testing::ValuesIn(PlacementSpecs()), TestName);

}  // namespace
}  // namespace leeway
