#include "node/server/block_members.h"

#include <gtest/gtest.h>

#include "node/server/testing/hand_fed_blocks.h"

namespace leeway::testing {
namespace {

class BlockMembersTest : public ::testing::Test {
 protected:
  void Take(std::uint64_t epoch, std::uint32_t n, bool last_joins = false, std::int64_t first = 0) {
    wire::pb::Roster roster = RosterOf(epoch, n);
    roster.mutable_members(static_cast<int>(n) - 1)->set_joining(last_joins);
    for (wire::pb::Member& member : *roster.mutable_members()) member.set_first(first);
    ASSERT_TRUE(members.Take(roster));
    members.TellAll();
  }
  [[nodiscard]] bool Counts(std::uint32_t worker) { return blocks.At(0).HasMember(LifeOf(worker)); }
  void Hear(std::uint32_t worker) { members.Hear(blocks.At(0), Term(1), LifeOf(worker)); }

  FakeEnv world;
  HandFedBlocks blocks{world};
  int told = 0;
  BlockMembers members{world.env, blocks.store, std::chrono::seconds(10), [this] { ++told; }};
};

TEST_F(BlockMembersTest, ABlockHearsOfNobodyBeforeThereIsARoster) {
  blocks.Make("bsp", 1);
  // A checkpoint may hold members.
  blocks.At(0).OnMembers(Epoch(0), std::vector<MemberState>{{.key = LifeOf(0)}}, world.clock.now);
  members.TellAll();
  EXPECT_TRUE(Counts(0)) << "an empty roster would end its life";
}

TEST_F(BlockMembersTest, ATableWithItsOwnClockCountsMembersFromItsOwnBeginning) {
  blocks.Make("bsp", 1, TableClock::kOwn);
  Take(1, 1, false, 5);
  EXPECT_EQ(blocks.At(0).FirstOf(WorkerId(0)), Iteration(0));
}

TEST_F(BlockMembersTest, ATableOfTheJobsClockCountsMembersFromWhereTheRosterSays) {
  blocks.Make("bsp", 1);
  Take(1, 1, false, 5);
  EXPECT_EQ(blocks.At(0).FirstOf(WorkerId(0)), Iteration(5));
}

TEST_F(BlockMembersTest, AnOlderRosterChangesNothing) {
  blocks.Make("bsp", 1);
  Take(3, 2);
  EXPECT_FALSE(members.Take(RosterOf(2, 1)));
  EXPECT_EQ(members.roster().members().size(), 2U);
}

TEST_F(BlockMembersTest, ABlockThatIsTakenOverCountsAJoinerOnlyOnceItHasHeardOfAllOthers) {
  blocks.Make("bsp", 1);
  members.TakeOver(BlockId(0));
  Take(1, 2, true);
  EXPECT_TRUE(Counts(0));
  EXPECT_FALSE(Counts(1));
  EXPECT_FALSE(members.Settle());
  Hear(0);
  EXPECT_TRUE(members.Settle());
  EXPECT_TRUE(Counts(1));
  EXPECT_EQ(told, 0) << "the caller knows";
}

TEST_F(BlockMembersTest, ATakeoverEndsWhenItsTimeHasPassed) {
  blocks.Make("bsp", 1);
  members.TakeOver(BlockId(0));
  Take(1, 2, true);
  world.Advance(std::chrono::seconds(9));
  members.TakeOver(BlockId(0));  // begins the time anew
  world.Advance(std::chrono::seconds(9));
  EXPECT_FALSE(Counts(1));
  world.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(Counts(1));
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(members.Settle());
}

TEST_F(BlockMembersTest, WithoutAJoinerNothingWaitsForATakeover) {
  blocks.Make("bsp", 1);
  members.TakeOver(BlockId(0));
  Take(1, 2);
  EXPECT_TRUE(members.Settle());
}

TEST_F(BlockMembersTest, AfterStopNoTimeOfATakeoverPasses) {
  blocks.Make("bsp", 1);
  members.TakeOver(BlockId(0));
  members.Stop();
  world.Advance(std::chrono::seconds(20));
  EXPECT_EQ(told, 0);
}

}  // namespace
}  // namespace leeway::testing
