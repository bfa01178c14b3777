// Iterations of other optimizers: they count in no lead and in no window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "block/testing/hand_fed_block.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A GAN as one of its two optimizers sees it: even iterations are its own, odd ones are idle.
void StepAs(HandFedBlock& block, std::uint32_t worker, std::int64_t iteration) {
  if (iteration % 2 == 0) {
    block.Push(worker, iteration);
  } else {
    block.Idle(worker, iteration);
  }
  block.Pull(worker, iteration);
}

// How many iterations worker 0 may end before a pull of its own waits, while worker 1 sends nothing.
std::int64_t IterationsBeforeAWait(HandFedBlock& block) {
  for (std::int64_t i = 0; i < 100; ++i) {
    StepAs(block, 0, i);
    if (block->waiting() > 0) return i;
  }
  return -1;
}

TEST(BlockIdleTest, ALeadCountsOwnIterationsOnly) {
  HandFedBlock block({.sync = "ssp:2", .apply = "immediate"});
  block.Begin(2);
  EXPECT_EQ(IterationsBeforeAWait(block), 4) << "own iterations 0, 2 and 4";
  EXPECT_EQ(block->counters().lead_read.buckets[1], 2U) << "after iterations 0 and 1";
  EXPECT_EQ(block->counters().lead_read.buckets[2], 2U) << "after iterations 2 and 3";
  block.Forget();
  block.Push(1, 0);
  EXPECT_EQ(block->v_train(), Iteration(1));
  EXPECT_EQ(block->waiting(), 1U) << "lazy: it waits until its own iteration is over";
  for (int i = 1; i < 4; ++i) StepAs(block, 1, i);
  EXPECT_EQ(block->waiting(), 1U);
  block.Push(1, 4);
  EXPECT_EQ(block->waiting(), 0U);
}

TEST(BlockIdleTest, AnAbsenceThatIsNotIdleCountsAsBefore) {
  HandFedBlock block({.sync = "ssp:2", .apply = "immediate"});
  block.Begin(2);
  block.Push(0, 0);
  block.Absent(0, 1);
  block.Pull(0, 1);
  EXPECT_EQ(block->waiting(), 0U);
  block.Push(0, 2);
  block.Pull(0, 2);
  EXPECT_EQ(block->waiting(), 1U);
}

TEST(BlockIdleTest, UnderBspAPullWhoseOpenIterationsAreIdleIsAnsweredAtOnce) {
  HandFedBlock block;
  block.Begin(2);
  block.Idle(0, 0);
  block.Pull(0, 0);
  EXPECT_THAT(block.Heard(), ElementsAre("ABSENT 0#1 v0", "ANSWER 0 p0 v0 r1"));
  block.Push(0, 1);
  block.Pull(0, 1);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 0#2 v0"));
  block.Idle(1, 0);
  EXPECT_THAT(block.Heard(), ElementsAre("ABSENT 1#1 v1"));
  block.Push(1, 1);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 1#2 v2", "ANSWER 0 p1 v2 r2"));
}

TEST(BlockIdleTest, UnderBspNobodyReadsPastAnOwnIteration) {
  HandFedBlock block;
  block.Begin(2);
  for (int i = 0; i < 3; ++i) StepAs(block, 0, i);
  EXPECT_EQ(block->waiting(), 1U) << "iteration 0 is own and lacks worker 1";
  block.Push(1, 0);
  EXPECT_EQ(block->waiting(), 1U) << "so is iteration 2";
  block.Push(0, 3);
  block.Push(1, 2);
  EXPECT_EQ(block->v_train(), Iteration(3));
  EXPECT_EQ(block->waiting(), 0U);
}

TEST(BlockIdleTest, ALazyPullIsReleasedWhenOnlyIdleIterationsAreLeftUpToIt) {
  HandFedBlock block({.sync = "bsp", .apply = "immediate"});
  block.Begin(2);
  block.Push(0, 0);
  for (int i = 1; i < 4; ++i) block.Idle(0, i);
  block.Pull(0, 3);
  EXPECT_EQ(block->waiting(), 1U);
  block.Forget();
  block.Push(1, 0);
  EXPECT_THAT(block.Heard(), ElementsAre("APPLIED 1#1 v1", "ANSWER 0 p3 v1 r3"));
}

TEST(BlockIdleTest, SoftReleaseAnswersAtTheNextAdvanceOnly) {
  HandFedBlock block({.sync = "ssp:1,release=soft", .apply = "immediate"});
  block.Begin(2);
  EXPECT_EQ(IterationsBeforeAWait(block), 2);
  block.Idle(0, 3);
  EXPECT_EQ(block->waiting(), 1U) << "an idle mark is no advance";
  block.Push(1, 0);
  EXPECT_EQ(block->waiting(), 0U);
}

TEST(BlockIdleTest, SoftReleaseDoesNotAnswerOnAnAdvancePastAnIdleIteration) {
  HandFedBlock block({.sync = "bsp:release=soft", .apply = "immediate"});
  block.Begin(2);
  block.Idle(0, 0);
  block.Push(0, 1);
  block.Pull(0, 1);
  EXPECT_EQ(block->waiting(), 1U);
  block.Idle(1, 0);
  EXPECT_EQ(block->v_train(), Iteration(1));
  EXPECT_EQ(block->waiting(), 1U) << "worker 1 has not sent its gradient of iteration 1";
  block.Push(1, 1);
  EXPECT_EQ(block->waiting(), 0U);
}

TEST(BlockIdleTest, MarksDoNotCountWhileAMemberBeganLater) {
  HandFedBlock block({.sync = "bsp", .apply = "immediate"});
  block.Begin(2);
  block.Idle(0, 0);
  block.Join(2, 1).Roster();
  block.Pull(0, 0);
  EXPECT_EQ(block->waiting(), 1U)
      << "its order of steps may be another: what is idle here may be its own there";
  block.Idle(1, 0);
  EXPECT_EQ(block->waiting(), 0U);
  block.Idle(0, 1);
  block.Pull(0, 1);
  EXPECT_EQ(block->waiting(), 1U);
}

TEST(BlockIdleTest, MarksDoNotCountUnderModelsThatLeaveIterationsOut) {
  HandFedBlock block({.sync = "drop:2", .apply = "aggregate"});
  block.Begin(3);
  block.Idle(0, 0);
  block.Pull(0, 0);
  EXPECT_EQ(block->waiting(), 1U);
}

TEST(BlockIdleTest, StalenessDoesNotCountIdleIterations) {
  HandFedBlock block({.sync = "ssp:2", .apply = "aggregate"});
  block.Begin(2);
  block.Idle(0, 0);
  PushEvent push = block.NextPush(0, 1);
  push.base_version = block->version();
  block.Feed(push, {0, 0});
  EXPECT_THAT(block.staleness(0), ElementsAre(0, 1)) << "nothing is applied before iteration 1";
}

TEST(BlockIdleTest, TheWindowCountsOwnIterations) {
  HandFedBlock block({.sync = "bsp", .apply = "aggregate:window=2"});
  block.Begin(2);
  block.Push(0, 0);
  for (int i = 1; i < 6; ++i) block.Idle(0, i);
  block.Push(0, 6);
  for (int i = 7; i < 9; ++i) block.Idle(0, i);
  block.Forget();
  block.Push(0, 9);
  EXPECT_THAT(block.Heard(), ElementsAre("WINDOW 0#10 v0")) << "the sums of 0 and 6 are open";
  block.Push(1, 0);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 1#1 v1", "OPEN 0#10 v1"));
  block.PushSeq(0, 10, 9);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 0#10 v1"));
}

TEST(BlockIdleTest, SspWithAggregateNeedsNoWiderWindowForIdleIterations) {
  HandFedBlock block({.sync = "ssp:2", .apply = "aggregate"});
  block.Begin(2);
  EXPECT_EQ(IterationsBeforeAWait(block), 4);
  EXPECT_EQ(block->counters().windows, 0U);
  for (int i = 0; i < 5; ++i) StepAs(block, 1, i);
  EXPECT_EQ(block->v_train(), Iteration(5));
  EXPECT_EQ(block->counters().steps, 3U);
  EXPECT_EQ(block->waiting(), 0U);
}

TEST(BlockIdleTest, AGradientWinsOverAnIdleMarkInBothOrders) {
  for (const bool idle_first : {true, false}) {
    HandFedBlock block({.sync = "bsp", .apply = "immediate"});
    block.Begin(3);
    if (idle_first) block.Idle(0, 0);
    block.Push(1, 0);
    if (!idle_first) block.Idle(0, 0);
    block.Pull(0, 0);
    EXPECT_EQ(block->waiting(), 1U) << "idle first: " << idle_first;
  }
  for (const bool idle_first : {true, false}) {
    HandFedBlock block({.sync = "bsp", .apply = "immediate"});
    block.Begin(4);
    block.Idle(2, 5);  // the record exists before
    if (idle_first) block.Idle(0, 0);
    block.Absent(1, 0);
    if (!idle_first) block.Idle(0, 0);
    block.Pull(0, 0);
    EXPECT_EQ(block->waiting(), 1U) << "a plain absence, idle first: " << idle_first;
  }
}

TEST(BlockIdleTest, APullThatOvertookTheMarksOfItsWorkerIsAskedAgain) {
  HandFedBlock block({.sync = "ssp:1", .apply = "immediate"});
  block.Begin(2);
  block.Push(0, 0);
  block.Pull(0, 2);
  EXPECT_EQ(block->waiting(), 1U);
  block.Idle(0, 1);
  EXPECT_EQ(block->waiting(), 1U) << "iteration 2 counts as own until it is marked";
  block.now_ns = 7;
  block.Idle(0, 2);
  EXPECT_EQ(block->waiting(), 0U);
  EXPECT_EQ(block->counters().delayed, 1U) << "the same DPR";
  EXPECT_EQ(block->counters().delayed_wait, Duration(7));
}

TEST(BlockIdleTest, AMarkOpensTheWindowForAPushThatWaits) {
  HandFedBlock block({.sync = "bsp", .apply = "aggregate:window=2"});
  block.Begin(4);
  block.Idle(2, 7);  // the record exists before
  block.Push(0, 0);
  block.Push(0, 2);
  EXPECT_THAT(block.Heard(), ElementsAre("ABSENT 2#1 v0", "SUMMED 0#1 v0", "WINDOW 0#2 v0"));
  block.Idle(1, 1);
  EXPECT_THAT(block.Heard(), ElementsAre("ABSENT 1#1 v0", "OPEN 0#2 v0"));
}

TEST(BlockIdleTest, AFormulaSeesEveryProgressInOwnIterations) {
  HandFedBlock block({.sync = "when:pull=\"fastest - slowest < 3 && gap < 2\"", .apply = "immediate"});
  block.Begin(2);
  EXPECT_EQ(IterationsBeforeAWait(block), 4);
}

TEST(BlockIdleTest, ASwitchAsksWithOwnIterations) {
  HandFedBlock block({.sync = "bsp", .apply = "immediate"});
  block.Begin(2);
  for (int i = 0; i < 4; ++i) StepAs(block, 0, i);
  EXPECT_EQ(block->waiting(), 1U);
  block.Switch("ssp:1");
  EXPECT_EQ(block->waiting(), 1U);
  block.Switch("ssp:2");
  EXPECT_EQ(block->waiting(), 0U);
}

TEST(BlockIdleTest, OneThatJoinsOrDiesInAnIdleIterationHoldsNobody) {
  HandFedBlock block;
  block.Begin(2);
  for (int i = 0; i < 2; ++i) StepAs(block, 0, i);
  StepAs(block, 1, 0);
  block.Join(2, 1).Roster();
  EXPECT_EQ(block->FirstOf(WorkerId(2)), Iteration(2));
  block.Leave(1).Roster();
  EXPECT_EQ(block->v_train(), Iteration(2));
  EXPECT_EQ(block->waiting(), 0U);
  StepAs(block, 0, 2);
  EXPECT_EQ(block->waiting(), 1U) << "the one that joined counts from iteration 2 on";
  StepAs(block, 2, 2);
  EXPECT_EQ(block->waiting(), 0U);
}

TEST(BlockIdleTest, ABlockThatWasLoadedHasForgottenTheMarksAndWaits) {
  HandFedBlock block;
  block.Begin(2);
  block.Idle(0, 0);
  HandFedBlock loaded;
  loaded->Load(block->Save());
  loaded.ContinueFrom(block);
  loaded.Pull(0, 0);
  EXPECT_EQ(loaded->waiting(), 1U);
  loaded.Idle(1, 0);
  EXPECT_EQ(loaded->waiting(), 0U);
}

}  // namespace
}  // namespace leeway
