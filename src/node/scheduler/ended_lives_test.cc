#include "node/scheduler/ended_lives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr MemberKey kLife{WorkerId(1), Incarnation(2)};

// One block that holds the life up to `highest`; -1: it holds nothing.
wire::pb::Held HeldUpTo(std::int64_t highest, bool patched) {
  wire::pb::Held held;
  held.set_worker(kLife.worker.value());
  held.set_incarnation(kLife.incarnation.value());
  held.set_highest(highest);
  wire::pb::HeldBlocks& blocks = patched ? *held.mutable_patched() : *held.mutable_whole();
  if (highest < 0) {
    blocks.set_silent(1);
  } else {
    blocks.set_blocks(1);
    blocks.set_sum(highest);
  }
  return held;
}

void Answer(EndedLives& lives, std::uint32_t shard, const wire::pb::Held& held) {
  const wire::pb::Held* const answer[] = {&held};
  lives.Take(ShardId(shard), answer);
}

TEST(EndedLivesTest, TheHighestOfAllShardsAndOfItsOwnWordIsWhereItEnds) {
  EndedLives lives;
  lives.Add(kLife, Iteration(5), Iteration(9));
  Answer(lives, 0, HeldUpTo(7, false));
  Answer(lives, 1, HeldUpTo(6, true));
  const EndedLives::Settled settled = lives.Settle(kLife);
  EXPECT_EQ(settled.top, Iteration(8)) << "it had said that all below 9 have their verdicts";
  EXPECT_EQ(settled.lacking.torn, 1U);
  EXPECT_EQ(settled.lacking.lost, 2U);
  EXPECT_FALSE(lives.IsPending(kLife));
}

TEST(EndedLivesTest, AServerThatDiesLaterTakesItsPushesAlong) {
  EndedLives lives;
  EXPECT_FALSE(lives.Left(kLife, Iteration(5), Iteration(9)));
  EXPECT_THAT(lives.Pending(), IsEmpty());
  EXPECT_THAT(lives.OnReplaced(ShardId(1)), ElementsAre(kLife));
  Answer(lives, 0, HeldUpTo(3, true));  // which was asked before, and counted
  Answer(lives, 1, HeldUpTo(-1, true));
  const EndedLives::Settled settled = lives.Settle(kLife);
  EXPECT_TRUE(settled.again);
  EXPECT_EQ(settled.lacking.lost, 4U) << "iterations 5 to 8 of the one block";
}

TEST(EndedLivesTest, OneThatLeavesAfterAServerWasReplacedIsAskedAboutToo) {
  EndedLives lives;
  (void)lives.OnReplaced(ShardId(1));
  EXPECT_TRUE(lives.Left(kLife, Iteration(5), Iteration(9)));
  Answer(lives, 1, HeldUpTo(6, true));
  EXPECT_EQ(lives.Settle(kLife).lacking.lost, 2U);
  lives.OnCutBegun();
  lives.OnCutWhole();
  EXPECT_FALSE(lives.Left({WorkerId(2), Incarnation(1)}, Iteration(5), Iteration(9)));
}

TEST(EndedLivesTest, ABlockThatHoldsMoreThanTheLifeSaidLacksNothing) {
  EndedLives lives;
  EXPECT_FALSE(lives.Left(kLife, Iteration(5), Iteration(9)));
  (void)lives.OnReplaced(ShardId(0));
  Answer(lives, 0, HeldUpTo(12, true));
  EXPECT_EQ(lives.Settle(kLife).lacking.lost, 0U);
}

TEST(EndedLivesTest, ACheckpointThatIsWholeEndsTheMemoryOfWhatEndedBeforeIt) {
  EndedLives lives;
  (void)lives.Left(kLife, Iteration(0), Iteration(9));
  lives.OnCutBegun();
  const MemberKey later{WorkerId(2), Incarnation(1)};
  (void)lives.Left(later, Iteration(0), Iteration(9));
  EXPECT_TRUE(lives.IsInCut(kLife));
  lives.OnCutWhole();
  EXPECT_THAT(lives.OnReplaced(ShardId(0)), ElementsAre(later));
}

TEST(EndedLivesTest, TheLogKnowsWhoIsAskedAbout) {
  EndedLives lives;
  lives.Add(kLife, Iteration(5), Iteration(9));
  const MemberKey left{WorkerId(2), Incarnation(1)};
  (void)lives.Left(left, Iteration(0), Iteration(4));
  (void)lives.OnReplaced(ShardId(3));
  wire::pb::LoggedJob job;
  lives.AddTo(job);
  EndedLives again;
  again.Apply(job);
  EXPECT_THAT(again.Pending(), ElementsAre(kLife, left));
  EXPECT_FALSE(again.IsKnown(kLife));
  EXPECT_TRUE(again.IsKnown(left));
  wire::pb::LoggedJob same;
  again.AddTo(same);
  EXPECT_EQ(same.SerializeAsString(), job.SerializeAsString());
}

}  // namespace
}  // namespace leeway
