// Members that join, leave and die at any point.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "block/testing/hand_fed_block.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(BlockMembersTest, AnAbsenceBeforeTheFirstIterationOfAWorkerIsCountedByItself) {
  HandFedBlock block;
  block.Begin(1);
  block.Join(1, 5);
  block.Roster();
  block.Absent(1, 4);  // so it says where it begins
  EXPECT_EQ(block->counters().absent, 1U);
  EXPECT_EQ(block->counters().absent_before, 1U);
  block.Absent(1, 5);
  EXPECT_EQ(block->counters().absent, 2U);
  EXPECT_EQ(block->counters().absent_before, 1U);
}

TEST(BlockMembersTest, ALeaverFreesThoseWhoWaitForIt) {
  HandFedBlock block;
  block.Begin(3);
  block.Push(0, 0);
  block.Push(1, 0);
  block.Pull(0, 0);
  block.Forget();
  block.Leave(2).Roster();
  EXPECT_THAT(block.Heard(), ElementsAre("ANSWER 0 p0 v1 r2"));
  EXPECT_THAT(block.values(), ElementsAre(2.0F, 2.0F));
}

TEST(BlockMembersTest, WhatADeadMemberGaveCountsInBothCountAndMembers) {
  HandFedBlock block({.optimizer = "sgd"});
  block.Begin(3);
  block.Push(2, 0, {6, 6});
  block.Leave(2).Roster();
  EXPECT_EQ(block->v_train(), Iteration(0)) << "0 and 1 are still to come";
  block.Push(0, 0, {6, 6});
  block.Absent(1, 0);
  EXPECT_THAT(block.values(), ElementsAre(-4.0F, -4.0F)) << "mean 6, d / N = 2 / 3 with the dead one in both";
  block.Push(0, 1, {6, 6});
  block.Push(1, 1, {6, 6});
  EXPECT_THAT(block.values(), ElementsAre(-10.0F, -10.0F)) << "and of the next iteration it is no member";
}

TEST(BlockMembersTest, DeathAtAnyPointEndsTheIteration) {
  for (int sent = 0; sent <= 3; ++sent) {
    HandFedBlock block({.sync = "ssp:2"});
    block.Begin(2);
    for (int i = 0; i < sent; ++i) block.Push(1, i);
    for (int i = 0; i < 3; ++i) block.Push(0, i);
    block.Pull(0, 2);
    block.Leave(1).Roster();
    EXPECT_EQ(block->v_train(), Iteration(3)) << sent;
    EXPECT_EQ(block->waiting(), 0U) << sent;
    const float sum = static_cast<float>(3 + sent);
    EXPECT_THAT(block.values(), ElementsAre(sum, sum)) << sent;
  }
}

TEST(BlockMembersTest, AnIterationThatNobodyCountsForIsPassedWhateverAFormulaAsksFor) {
  HandFedBlock block({.sync = "when:pull=\"progress <= slowest + 1\",push=\"count >= 1\""});
  block.Begin(2);
  block.Push(0, 0);
  ASSERT_EQ(block->v_train(), Iteration(1));
  block.Leave(0).Leave(1).Join(0, 3, 2).Roster();
  EXPECT_EQ(block->v_train(), Iteration(3)) << "where the one that is here begins";
}

TEST(BlockMembersTest, TheLastMemberLeavingFoldsWhatIsCompleteAndNothingSpins) {
  HandFedBlock block;
  block.Begin(2);
  block.Push(0, 0);
  block.Push(0, 1);
  block.Pull(0, 1);
  block.Leave(0).Roster();
  EXPECT_EQ(block->v_train(), Iteration(0)) << "worker 1 is still a member of iteration 0";
  block.Leave(1).Roster();
  EXPECT_EQ(block->v_train(), Iteration(2));
  EXPECT_THAT(block.values(), ElementsAre(2.0F, 2.0F));
  block.Roster();
  block->OnTimer(block.Now());
  EXPECT_EQ(block->v_train(), Iteration(2));
  EXPECT_EQ(block->waiting(), 0U);
}

TEST(BlockMembersTest, APullOfOneWhoHasLeftIsAnsweredThoughNobodyAdvances) {
  HandFedBlock block;
  block.Begin(2);
  block.Push(0, 0);
  block.Pull(0, 0);
  block.Forget();
  block.Leave(0).Roster();
  EXPECT_THAT(block.Heard(), ElementsAre("ANSWER 0 p0 v0 r1"));
  block.Pull(0, 7);
  EXPECT_THAT(block.Heard(), ElementsAre("ANSWER 0 p7 v0 r1"));
}

TEST(BlockMembersTest, AWaitingPullOfAReplacedLifeIsDropped) {
  HandFedBlock block;
  block.Begin(2);
  block.Push(0, 0);
  block.Pull(0, 0);
  block.Forget();
  block.Leave(0).Join(0, 0, 2).Roster();
  EXPECT_THAT(block.Heard(), IsEmpty());
  EXPECT_EQ(block->waiting(), 0U);
}

TEST(BlockMembersTest, AJoinerIsNotWaitedForInTheIterationUnderWay) {
  HandFedBlock block;
  block.Begin(2);
  block.Push(0, 0);
  block.Join(2, 0).Roster();
  block.Push(1, 0);
  EXPECT_EQ(block->v_train(), Iteration(1)) << "iteration 0 did not wait for the joiner";
  block.Push(0, 1);
  block.Push(1, 1);
  EXPECT_EQ(block->v_train(), Iteration(1)) << "iteration 1 does";
  block.Push(2, 1);
  EXPECT_EQ(block->v_train(), Iteration(2));
  EXPECT_THAT(block.values(), ElementsAre(5.0F, 5.0F));
}

TEST(BlockMembersTest, AJoinerIsAbsentUntilItsFirstPush) {
  HandFedBlock block;
  block.Begin(1);
  block.Push(0, 0);
  block.Join(1, 2).Roster();
  block.Push(0, 1);
  block.Push(0, 2);
  EXPECT_EQ(block->v_train(), Iteration(2));
  block.Forget();
  block.Push(1, 3);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 1#1 v3"));
}

TEST(BlockMembersTest, APushBeforeItsFirstIsLate) {
  HandFedBlock block({.sync = "ssp:4", .apply = "aggregate"});
  block.Begin(1);
  block.Push(0, 0);
  block.Join(1, 4).Roster();
  block.Forget();
  block.Push(1, 2);
  EXPECT_THAT(block.Heard(), ElementsAre("LATE_DROPPED 1#1 v1"));
}

TEST(BlockMembersTest, WithoutMembersNothingAdvances) {
  HandFedBlock block;
  block.Init({0, 0});
  block->OnTimer(block.Now());
  block.Roster();
  EXPECT_EQ(block->v_train(), Iteration(0));
}

// Every permutation of arrivals of 4 workers in 2 iterations that each worker can produce.
std::vector<std::vector<float>> ResultsOverArrivals(const char* apply) {
  const std::vector<std::vector<float>> gradients = {
      {1e8F, 0.1F}, {3.14159F, 1e-7F}, {-1e8F, 12345.678F}, {2.71828F, -12345.6F}};
  std::vector<std::uint32_t> order = {0, 1, 2, 3};
  std::vector<std::vector<float>> results;
  do {
    HandFedBlock block({.apply = apply, .optimizer = "momentum"});
    block.Begin(4);
    for (int i = 0; i < 2; ++i) {
      for (const std::uint32_t w : order) {
        PushEvent push = block.NextPush(w, i);
        push.samples = w + 1;
        block.Feed(push, gradients[w]);
      }
    }
    results.push_back(block.values());
  } while (std::ranges::next_permutation(order).found);
  EXPECT_EQ(results.size(), 24U);
  return results;
}

TEST(BlockMembersTest, OrderedReductionGivesTheSameBitsForEveryArrivalOrder) {
  const auto results = ResultsOverArrivals("aggregate:reduce=ordered");
  for (const std::vector<float>& result : results) EXPECT_EQ(result, results.front());
}

TEST(BlockMembersTest, InArrivalOrderTheBitsDifferForSomeOrders) {
  const auto results = ResultsOverArrivals("aggregate");
  EXPECT_TRUE(std::ranges::any_of(results, [&](const auto& r) { return r != results.front(); }));
}

TEST(BlockMembersTest, ANewLifeBeginsAboveAllThatItsFormerOneGave) {
  HandFedBlock block({.sync = "asp", .apply = "immediate"});
  block.Begin(2);
  for (const std::int64_t i : {0, 1, 2, 3}) block.Push(0, i, {1, 0});
  block.Push(1, 0, {0, 1});
  EXPECT_EQ(block->v_train(), Iteration(1));
  block.Leave(0).Join(0, 2, 2).Roster();
  EXPECT_EQ(block->FirstOf(WorkerId(0)), Iteration(4)) << "the scheduler had last heard of iteration 1";
  EXPECT_EQ(block->HeldOf({WorkerId(0), Incarnation(1)}),
            (HeldLife{.iteration = Iteration(3), .silent = false}));
  EXPECT_EQ(block->HeldOf({WorkerId(0), Incarnation(2)}), (HeldLife{.iteration = Iteration(3)}))
      << "it has sent nothing, and begins with 4";
}

TEST(BlockMembersTest, AWorkerThatGoesOnUnderANewTermIsAbsentFromWhatWasLost) {
  HandFedBlock block;
  block.Begin(2);
  for (const std::uint32_t worker : {0U, 1U}) block.Push(worker, 0);
  block.Pull(0, 4);
  block.Forget();
  const auto go_on = [&](std::uint32_t worker, std::int64_t next) {
    block->OnResume({.from = HandFedBlock::Key(worker), .term = Term(1), .next = Iteration(next)},
                    block.Now());
  };
  go_on(0, 5);
  EXPECT_THAT(block.Heard(), ElementsAre("RESUMED 0#1 v1"));
  go_on(1, 4);
  EXPECT_THAT(block.Heard(), ElementsAre("RESUMED 1#1 v4")) << "worker 1 still gives iteration 4";
  block.Push(1, 4);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 1#2 v5", "ANSWER 0 p4 v5 r3"));
  EXPECT_EQ(block.values()[0], 3.0F);
  block->OnResume({.from = HandFedBlock::Key(7), .term = Term(1), .next = Iteration(0)}, block.Now());
  EXPECT_THAT(block.Heard(), ElementsAre("MOVED 7#0 v5")) << "a stranger";
}

}  // namespace
}  // namespace leeway
