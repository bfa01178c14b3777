#include "node/worker/block_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/heap_arena.h"
#include "sync/sync_policy.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BlockRulesTest : public ::testing::Test {
 protected:
  // Two blocks: the first on shard 0 of server 0, the second on shard 1 of server 5.
  void SetUp() override {
    (void)*tables.Create({.name = "fc1", .shape = {4}}, pair);
    table = tables.TakeCreated().at(0);
    map.set_name("fc1");
    for (std::uint32_t id = 0; id < 2; ++id) {
      wire::pb::Block* block = map.add_blocks();
      block->set_block(id);
      block->set_shard(id);
      block->set_offset(id * 2);
      block->set_elements(2);
    }
    ASSERT_TRUE(TableSet::Place(*table, map, 2).ok());
    tables.Index(*table);
  }
  void Take(const std::string& sync) {
    map.set_sync(sync);
    const Status taken = rules.TakeModels(*table, map, "bsp", servers);
    ASSERT_TRUE(taken.ok()) << taken.ToString();
    rules.Count(tables, true);
  }

  const std::vector<std::uint32_t> servers{0, 5};
  Registry<SyncModel> models = BuiltinSyncModels();
  HeapArena arena;
  ParameterPair pair{4, nullptr, nullptr};
  TableSet tables{arena};
  BlockRules rules{models};
  WorkerTable* table = nullptr;
  wire::pb::Table map;
};

TEST_F(BlockRulesTest, AMapNamesModelsByTableAndByServer) {
  Take("");
  EXPECT_EQ(table->blocks[0].model->sync, "bsp") << "the job's";
  wire::pb::ServerSync* other = map.add_of_servers();
  other->set_server(5);
  other->set_sync("asp");
  Take("ssp:3");
  EXPECT_EQ(table->blocks[0].model->sync, "ssp:3");
  EXPECT_EQ(table->blocks[1].model->sync, "asp");
  EXPECT_THAT(BlockRules::SyncsOf("*", tables), ElementsAre("asp", "ssp:3"));
  EXPECT_THAT(BlockRules::SyncsOf("conv*", tables), ElementsAre());
}

TEST_F(BlockRulesTest, AModelThatIsNotKnownIsAnErrorThatNamesTableAndServer) {
  map.set_sync("bpp");
  const Status taken = rules.TakeModels(*table, map, "bsp", servers);
  EXPECT_THAT(taken.message(), HasSubstr("table \"fc1\" on server 0"));
}

TEST_F(BlockRulesTest, PushesWithoutVerdictsHoldAnIterationBackUnderBounded) {
  Take("bounded:1");
  EXPECT_TRUE(rules.any_bounded());
  table->blocks[1].pushes.AppendAbsent(Iteration(3), false);
  EXPECT_EQ(rules.HeldUp(tables, Iteration(4)), nullptr);
  EXPECT_EQ(rules.HeldUp(tables, Iteration(5)), &table->blocks[1]);
  rules.Count(tables, false);
  EXPECT_EQ(rules.HeldUp(tables, Iteration(5)), nullptr) << "a worker that has left is not bound";
}

TEST_F(BlockRulesTest, TheLowestIterationThatABlockToldCountsWhereModelsSkipAhead) {
  Take("bsp");
  EXPECT_EQ(rules.LowestTold(tables), kIterationMax);
  EXPECT_TRUE(rules.MayMeet("a barrier", tables).ok());
  Take("drop:1");
  table->blocks[0].told = Iteration(7);
  table->blocks[1].told = Iteration(4);
  EXPECT_TRUE(rules.any_skips());
  EXPECT_EQ(rules.LowestTold(tables), Iteration(4));
  EXPECT_THAT(rules.MayMeet("a barrier", tables).message(), HasSubstr("a barrier: table \"fc1\" follows"));
}

}  // namespace
}  // namespace leeway
