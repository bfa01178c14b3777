// Servers that a scheduler can replace without a checkpoint, and those that nobody needs any more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.h"
#include "node/scheduler/testing/hand_fed_scheduler.h"

namespace leeway {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using wire::Kind;

class SchedulerServersTest : public testing::HandFedScheduler {
 protected:
  // Server 1 dies, and another process takes its place.
  void ReplaceServer1() {
    (void)world.transport.Lose(s1);
    PassTime(seconds(3));
    world.transport.sent.clear();
    s1 = HelloShard(1, 301);
  }
  // Worker `id` asks anew for table "w", and says under which term it saw values of which blocks.
  void AskAgain(ConnectionId id, std::uint64_t request,
                const std::vector<std::pair<std::uint32_t, std::uint32_t>>& seen) {
    wire::pb::DefineTables define;
    define.set_request(request);
    wire::pb::Table& table = *define.add_tables();
    table.set_name("w");
    table.add_shape(8);
    table.set_dtype(1);
    for (const auto& [block, term] : seen) {
      wire::pb::SeenBlock& line = *define.add_seen();
      line.set_block(block);
      line.set_term(term);
    }
    ASSERT_TRUE(world.transport.DeliverControl(id, Kind::kDefineTables, define).ok());
  }
  // The blocks of server 1 as it is told them.
  std::vector<wire::pb::Block> BlocksOfServer1() {
    std::vector<wire::pb::Block> blocks;
    for (const auto& map : Take<wire::pb::TableMap>(s1, Kind::kTableMap)) {
      for (const wire::pb::Table& table : map.tables()) {
        for (const wire::pb::Block& block : table.blocks()) {
          if (block.shard() == 1) blocks.push_back(block);
        }
      }
    }
    return blocks;
  }
};

TEST_F(SchedulerServersTest, BeforeTheFirstTableALostServerIsSimplyReplaced) {
  GatherAll();
  ReplaceServer1();
  EXPECT_EQ(welcome.error(), "");
  EXPECT_THAT(BlocksOfServer1(), IsEmpty());
  const auto rosters = Take<wire::pb::Roster>(w0, Kind::kRoster);
  ASSERT_EQ(rosters.size(), 1U);
  EXPECT_EQ(rosters[0].shards(1).life(), 301U);
  EXPECT_TRUE(ended.empty());
}

TEST_F(SchedulerServersTest, ALostServerIsWaitedForWhileNobodyHasTrained) {
  GatherAll();
  Define(w0, 1, "w", 8);
  AckAll(2);
  (void)world.transport.Lose(s1);
  PassTime(seconds(12));
  EXPECT_EQ(State()["shards"][1]["state"], "lost");
  EXPECT_THAT(Take<wire::pb::JobEnd>(w0, Kind::kJobEnd), IsEmpty());
}

TEST_F(SchedulerServersTest, TablesThatNobodyHasValuesOfBeginEmptyOnTheNewServer) {
  GatherAll();
  Define(w0, 1, "w", 8);
  AckAll(2);
  ReplaceServer1();
  const auto blocks = BlocksOfServer1();
  ASSERT_FALSE(blocks.empty());
  for (const wire::pb::Block& block : blocks) {
    EXPECT_EQ(block.term(), 2U);
    EXPECT_EQ(block.emptied(), 2U);
    EXPECT_FALSE(block.has_restore());
  }
  AckAll(3);
  AskAgain(w0, 2, {});
  EXPECT_EQ(Take<wire::pb::TableMap>(w0, Kind::kTableMap).size(), 1U);
  // Values of the new owner's own are no loss, however often the worker asks.
  AskAgain(w0, 3, {{blocks[0].block(), 2}});
  EXPECT_EQ(Take<wire::pb::TableMap>(w0, Kind::kTableMap).size(), 1U);
  EXPECT_TRUE(ended.empty());
}

TEST_F(SchedulerServersTest, ValuesThatAWorkerSawOnTheServerBeforeAreALossThatEndsTheJob) {
  GatherAll();
  Define(w0, 1, "w", 8);
  AckAll(2);
  ReplaceServer1();
  const auto blocks = BlocksOfServer1();
  ASSERT_FALSE(blocks.empty());
  AskAgain(w1, 2, {{blocks[0].block(), 1}});
  const auto told = Take<wire::pb::JobEnd>(w0, Kind::kJobEnd);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0].message(), HasSubstr("server 1 shard 0"));
  EXPECT_THAT(told[0].message(), HasSubstr("was lost with values that workers had set or read"));
}

TEST_F(SchedulerServersTest, AServerThatIsLostWhenEveryWorkerHasItsFinalValuesEndsNothing) {
  GatherAll();
  SendReport(w0, 5);
  Leave(w0);
  Leave(w1);
  SendReport(w0, 5, true);
  EXPECT_FALSE(State()["served"]) << "worker 1 still needs its final values";
  SendReport(w1, 5, true);
  EXPECT_TRUE(State()["served"]);
  (void)world.transport.Lose(s1);
  PassTime(seconds(12));
  EXPECT_THAT(Take<wire::pb::JobEnd>(w0, Kind::kJobEnd), IsEmpty());
  SayGoodbye(w0);
  SayGoodbye(w1);
  const auto told = Take<wire::pb::JobEnd>(s0, Kind::kJobEnd);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].code(), 0U);
}

TEST_F(SchedulerServersTest, StoppedAfterAGoodEndItWaitsForNoServerThatIsAway) {
  GatherAll();
  Leave(w0);
  Leave(w1);
  (void)world.transport.Lose(s1);
  SayGoodbye(w0);
  SayGoodbye(w1);
  SayGoodbye(s0);
  world.Advance(seconds(3));
  EXPECT_TRUE(ended.empty()) << "server 1 may come back to hear of the end";
  node->Stop(Cancelled("interrupted"));
  EXPECT_TRUE(ended.empty()) << "no callback from inside a call";
  world.Advance(Duration::zero());
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_TRUE(ended[0].ok());
}

TEST_F(SchedulerServersTest, AServerThatIsLostWhileAWorkerNeedsItsFinalValuesEndsTheJob) {
  GatherAll();
  SendReport(w0, 5);
  Leave(w0);
  Leave(w1);
  SendReport(w0, 5, true);
  (void)world.transport.Lose(s1);
  PassTime(seconds(12));
  const auto told = Take<wire::pb::JobEnd>(w1, Kind::kJobEnd);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].code(), 0U);
}

}  // namespace
}  // namespace leeway
