// Relay: the content of a block is the mean of one iteration, and the answers name it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "block/testing/hand_fed_block.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;

HandFedOptions Relay(const char* apply = "relay") { return {.apply = apply, .optimizer = "mean"}; }
std::vector<float> Values(HandFedBlock& block) { return {block->values().begin(), block->values().end()}; }

TEST(BlockRelayTest, TheContentIsTheInitialValuesAndThenTheMeanOfEachIteration) {
  HandFedBlock block(Relay());
  for (std::uint32_t w = 0; w < 2; ++w) block.Join(w, 0);
  block.Roster();
  block.Init({7, 8});
  block.Pull(0, -1);
  EXPECT_EQ(block.mean(0), -1);
  EXPECT_THAT(Values(block), ElementsAre(7, 8));
  block.Push(0, 0, {1, 2});
  block.Pull(0, 0);
  block.Forget();
  block.Push(1, 0, {3, 6});
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 1#1 v1", "ANSWER 0 p0 v1 r2"));
  EXPECT_EQ(block.mean(0), 0);
  EXPECT_THAT(Values(block), ElementsAre(2, 4)) << "nothing of before is in it";
  block.Push(0, 1, {8, 8});
  block.Push(1, 1, {0, 2});
  block.Pull(1, 1);
  EXPECT_EQ(block.mean(1), 1);
  EXPECT_THAT(Values(block), ElementsAre(4, 5));
}

TEST(BlockRelayTest, AMemberWithoutAGradientCountsInTheMean) {
  HandFedBlock block(Relay());
  block.Begin(4);
  for (std::uint32_t w = 1; w < 4; ++w) block.Absent(w, 0);
  block.Push(0, 0, {4, -8});
  EXPECT_THAT(Values(block), ElementsAre(1, -2)) << "g/4, as DDP";
}

TEST(BlockRelayTest, SamplesWeighGradientsAndTheShareIsOfMembers) {
  HandFedBlock block(Relay());
  block.Begin(3);
  PushEvent push = block.NextPush(0, 0);
  push.samples = 3;
  block.Feed(push, {4, 4});
  block.Push(1, 0, {8, 0});
  block.Absent(2, 0);
  const float share = 2.0F / 3.0F;
  EXPECT_THAT(Values(block), ElementsAre(::testing::FloatEq(5.0F * share), ::testing::FloatEq(3.0F * share)));
}

TEST(BlockRelayTest, AnIterationWithoutAnyGradientIsAnsweredSo) {
  HandFedBlock block(Relay());
  block.Begin(2);
  block.Push(0, 0, {1, 1});
  block.Push(1, 0, {1, 1});
  block.Absent(0, 1);
  block.Pull(0, 1);
  block.Pull(1, 0);
  block.Forget();
  block.Absent(1, 1);
  EXPECT_THAT(block.Heard(), ElementsAre("ABSENT 1#2 v2", "NONE 0 p1 v2 r3"));
  EXPECT_EQ(block.mean(0), 1);
  PullEvent again = block.NextPull(0, 1);
  again.cached_version = Version(3);
  block->OnPull(again, {});
  EXPECT_THAT(block.Heard(), ElementsAre("UNCHANGED 0 p1 v2 r3")) << "it knows already that there is none";
  block.Push(0, 2, {2, 2});
  block.Absent(1, 2);
  block.Pull(0, 2);
  EXPECT_THAT(Values(block), ElementsAre(1, 1));
  EXPECT_EQ(block.mean(0), 2);
}

TEST(BlockRelayTest, InitialValuesWaitForTheirFirstReaderWhateverIterationsPass) {
  HandFedBlock block(Relay());
  block.Begin(2);
  block.Absent(0, 6);  // the table was made in iteration 7
  block.Absent(1, 6);
  EXPECT_EQ(block->v_train(), Iteration(7));
  block.Forget();
  block.Pull(0, 6);
  EXPECT_THAT(block.Heard(), ElementsAre("ANSWER 0 p6 v7 r8"));
  EXPECT_EQ(block.mean(0), -1);
  block.Absent(0, 7);
  block.Absent(1, 7);
  PullEvent next = block.NextPull(0, 7);
  next.cached_version = Version(8);
  block.Forget();
  block->OnPull(next, {});
  EXPECT_THAT(block.Heard(), ElementsAre("NONE 0 p7 v8 r9"))
      << "who has them is told that there is no gradient";
  EXPECT_EQ(block.mean(0), 7);
}

TEST(BlockRelayTest, ARefusedGradientLeavesTheOthers) {
  HandFedBlock block(Relay());
  block.Begin(2);
  block.Push(0, 0, {std::numeric_limits<float>::quiet_NaN(), 1});
  block.Push(1, 0, {2, 2});
  EXPECT_THAT(Values(block), ElementsAre(1, 1));
  block.Push(0, 1, {std::numeric_limits<float>::infinity(), 1});
  block.Absent(1, 1);
  block.Pull(1, 1);
  EXPECT_EQ(block.mean(1), 1) << "no gradient at all";
}

TEST(BlockRelayTest, AnIdleIterationChangesNothing) {
  HandFedBlock block(Relay());
  block.Begin(2);
  block.Push(0, 0, {1, 1});
  block.Push(1, 0, {1, 1});
  block.Idle(0, 1);
  block.Idle(1, 1);
  block.Pull(0, 1);
  EXPECT_EQ(block->v_train(), Iteration(2));
  EXPECT_EQ(block.mean(0), 0);
  EXPECT_EQ(block->version(), Version(2));
}

TEST(BlockRelayTest, TheMeanOfAnIterationStaysUntilEveryMemberHasSentTheNext) {
  HandFedBlock block(Relay());
  block.Begin(2);
  for (std::uint32_t w = 0; w < 2; ++w) block.Push(w, 0, {static_cast<float>(w), 2});
  block.Push(0, 1, {9, 9});
  block.Pull(1, 0);  // late: worker 0 has sent the next iteration already
  EXPECT_EQ(block.mean(1), 0);
  EXPECT_THAT(Values(block), ElementsAre(0.5F, 2));
}

TEST(BlockRelayTest, TheDeathOfAWorkerEndsItsIterationForTheOthers) {
  HandFedBlock block(Relay("relay:reduce=ordered"));
  block.Begin(3);
  block.Push(2, 0, {1, 1});
  block.Push(0, 0, {3, 3});
  block.Pull(0, 0);
  EXPECT_EQ(block->waiting(), 1U);
  block.Leave(1).Roster();
  EXPECT_EQ(block->waiting(), 0U);
  EXPECT_THAT(Values(block), ElementsAre(2, 2)) << "it counts no more";
}

TEST(BlockRelayTest, AMemberThatJoinsAndGivesNothingYetDoesNotCount) {
  HandFedBlock block(Relay());
  block.Begin(2);
  block.Push(0, 0, {2, 2});
  block.Absent(1, 0);
  EXPECT_THAT(Values(block), ElementsAre(1, 1)) << "a first member counts from the beginning";
  block.Join(2, 2).Join(3, 2).Roster();
  for (std::uint32_t w = 0; w < 2; ++w) block.Push(w, 1, {2, 2});
  block.Push(0, 2, {2, 2});
  block.Push(1, 2, {4, 4});
  block.Absent(2, 2);
  block.Push(3, 2, {6, 6});
  EXPECT_THAT(Values(block), ElementsAre(4, 4)) << "of three";
  for (std::uint32_t w = 0; w < 3; ++w) block.Push(w, 3, {4, 4});
  block.Absent(3, 3);
  EXPECT_THAT(Values(block), ElementsAre(3, 3)) << "of four, one of which gives nothing";
}

TEST(BlockRelayTest, InitialValuesMayBeSetUntilTheFirstMean) {
  HandFedBlock block(Relay());
  block.Begin(1);
  const auto assign = [&] {
    const PushEvent push = block.NextPush(0, 0);
    block->OnAssign({.from = push.from, .term = push.term, .seq = push.seq, .base_version = block->version()},
                    block.Fill({5, 6}));
  };
  assign();
  EXPECT_THAT(Values(block), ElementsAre(5, 6));
  block.Push(0, 0, {1, 1});
  block.Forget();
  assign();
  EXPECT_THAT(block.Heard(), ElementsAre("REFUSED 0#3 v1")) << "the content is a mean now";
}

TEST(BlockRelayTest, ARestoredBlockHasNoGradient) {
  HandFedBlock block(Relay());
  block.Begin(1);
  block.Push(0, 0, {1, 1});
  BlockState state = block->Save();
  state.Rebase(Iteration(1));
  HandFedBlock restored(Relay());
  restored->Load(state);
  restored.Join(0, 1, 2).Roster();
  restored.Forget();
  restored.Pull(0, 0, 2);
  EXPECT_THAT(restored.Heard(), ElementsAre("NONE 0'2 p0 v1 r2"));
  EXPECT_EQ(restored.mean(0), 0);
}

}  // namespace
}  // namespace leeway
