#include "node/worker/partial_use.h"

#include <gtest/gtest.h>

#include "base/heap_arena.h"
#include "node/testing/fake_env.h"

namespace leeway {
namespace {

// One table of two blocks, of which the first has come for every iteration that is asked for.
class PartialUseTest : public ::testing::Test {
 protected:
  void SetUp() override {
    PullPolicy policy;
    policy.partial = true;
    policy.share_min = 0.5;
    policy.tau = std::chrono::milliseconds(50);
    policy.skip_max = 1;
    use.SetPolicy(policy);
    (void)*tables.Create({.name = "w", .shape = {4}}, pair);
    table = tables.TakeCreated().at(0);
    wire::pb::Table map;
    map.set_name("w");
    for (std::uint32_t id = 0; id < 2; ++id) {
      wire::pb::Block* block = map.add_blocks();
      block->set_block(id);
      block->set_offset(id * 2);
      block->set_elements(2);
    }
    ASSERT_TRUE(TableSet::Place(*table, map, 1).ok());
    table->landing.LandAside();
    for (std::size_t block : {0U, 1U}) Arrive(block, -1);
    ASSERT_TRUE(table->landing.PublishIfWhole(Iteration(-1)));
    ASSERT_TRUE(pair.Take());
    table->waiters.push_back({Iteration(0), {}, {}});
  }
  void Arrive(std::size_t block, std::int64_t progress) {
    table->landing.Arrived(block, Iteration(progress), Version(static_cast<std::uint64_t>(progress + 2)),
                           table->landing.Begin(block).staged);
  }
  void BeginWithoutTheSecond(std::int64_t needed) {
    use.Begin();
    Arrive(0, needed);
    use.CountArrived(tables, Iteration(needed));
    env.Advance(std::chrono::milliseconds(50));
  }

  testing::FakeEnv env;
  WorkerCounters counters;
  int opened = 0;
  HeapArena arena;
  ParameterPair pair{4, nullptr, nullptr};
  TableSet tables{arena};
  PartialUse use{env.timers, counters, [this] { ++opened; }};
  WorkerTable* table = nullptr;
};

TEST_F(PartialUseTest, OpensTauAfterTheShareIsHere) {
  use.CountArrived(tables, Iteration(0));
  EXPECT_EQ(env.timers.pending(), 0U) << "no block has come";
  Arrive(0, 0);
  use.CountArrived(tables, Iteration(0));
  EXPECT_FALSE(use.MayUse(*table, Iteration(0)));
  env.Advance(std::chrono::milliseconds(50));
  EXPECT_EQ(opened, 1);
  EXPECT_TRUE(use.MayUse(*table, Iteration(0)));
}

TEST_F(PartialUseTest, TheNextIterationBeginsAnew) {
  Arrive(0, 0);
  use.CountArrived(tables, Iteration(0));
  use.Begin();
  env.Advance(std::chrono::milliseconds(50));
  EXPECT_EQ(opened, 0);
  EXPECT_FALSE(use.MayUse(*table, Iteration(0)));
}

TEST_F(PartialUseTest, ATableIsShownWithoutABlockOnlySoManyTimesRunning) {
  BeginWithoutTheSecond(0);
  ASSERT_TRUE(use.MayUse(*table, Iteration(0)));
  use.Use(*table, Iteration(0));
  EXPECT_EQ(pair.ready(), Iteration(0));
  EXPECT_EQ(table->blocks[1].skipped, 1);
  EXPECT_EQ(counters.skipped_blocks, 1U);
  EXPECT_EQ(table->ended_by, &table->blocks[1]);
  BeginWithoutTheSecond(1);
  EXPECT_FALSE(use.MayUse(*table, Iteration(1))) << "skip_max is 1";
  use.OnWhole(*table);
  EXPECT_EQ(table->blocks[1].skipped, 0);
}

TEST_F(PartialUseTest, ATableWhoseFrontIsOnLoanIsNotShown) {
  BeginWithoutTheSecond(0);
  table->front_lent = 1;
  EXPECT_FALSE(use.MayUse(*table, Iteration(0)));
}

}  // namespace
}  // namespace leeway
