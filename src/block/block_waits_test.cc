// How long pulls wait, and for which worker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "block/testing/hand_fed_block.h"
#include "block/waiting_pulls.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(BlockWaitsTest, AWaitIsChargedToTheOneThatCameLast) {
  HandFedBlock block;
  block.Begin(3);
  block.now_ns = 100;
  block.Push(0, 0);
  block.Pull(0, 0);
  block.now_ns = 130;
  block.Push(2, 0);
  block.Pull(2, 0);
  block.now_ns = 200;
  block.Push(1, 0);
  block.Pull(1, 0);
  EXPECT_EQ(block->counters().delayed_wait, Duration(170));
  EXPECT_EQ(block.held_for(0), WorkerId(1));
  EXPECT_EQ(block.held_for(2), WorkerId(1));
  EXPECT_EQ(block.held_for(1), kNoWorker) << "answered at once";
  EXPECT_THAT(block->counters().waited_for, ElementsAre(Pair(WorkerId(1), Duration(170))));
  block.now_ns = 210;
  block.Push(1, 1);
  block.Pull(1, 1);
  block.Push(0, 1);
  block.now_ns = 215;
  block.Leave(2).Roster();
  EXPECT_THAT(block->counters().waited_for,
              ElementsAre(Pair(WorkerId(1), Duration(170)), Pair(WorkerId(2), Duration(5))))
      << "whose end it was that let them go";
}

TEST(BlockWaitsTest, ASwitchChargesWhoWasMissingAndKeepsSinceWhenOthersWait) {
  HandFedBlock block({.sync = "bsp", .apply = "immediate"});
  block.Begin(2);
  for (int i = 0; i < 3; ++i) block.Push(1, i);
  block.now_ns = 10;
  block.Pull(1, 2);
  block.now_ns = 30;
  block.Switch("ssp:1");
  EXPECT_EQ(block->counters().delayed_wait, Duration(0));
  block.now_ns = 50;
  block.Switch("asp");
  EXPECT_THAT(block->counters().waited_for, ElementsAre(Pair(WorkerId(0), Duration(40))));
  EXPECT_EQ(block.held_for(1), WorkerId(0));
}

TEST(BlockWaitsTest, WaitingForInitialValuesIsNoDelay) {
  HandFedBlock block;
  block.Join(0, 0).Roster();
  block.Pull(0, -1);
  block.now_ns = 70;
  block.Init({1, 1});
  EXPECT_EQ(block->counters().blocked_wait, Duration(70));
  EXPECT_EQ(block->counters().delayed_wait, Duration(0));
  EXPECT_THAT(block->counters().waited_for, IsEmpty());
}

TEST(BlockWaitsTest, WhatAPullIsHeldUpHereIsNotItsWorkersPace) {
  HandFedBlock block;
  block.Begin(2);
  block.Push(0, 0);
  block.Pull(0, 0);
  block.now_ns = 900;
  block.Push(1, 0);
  block.now_ns = 1000;
  block.Push(0, 1);
  EXPECT_EQ(block->progress().PushInterval(WorkerId(0)), Duration(100));
}

TEST(BlockWaitsTest, OneThatComputesWhileItsPullIsHeldHasThePaceOfItsPushes) {
  // Its pulls are held all the time, and it pushes every 100 ns all the same (partial pull).
  HandFedBlock block({.sync = "bsp", .apply = "immediate"});
  block.Begin(2);
  for (int i = 0; i < 4; ++i) {
    block.Push(0, i);
    block.Pull(0, i);
    block.now_ns += 100;
  }
  EXPECT_EQ(block->progress().PushInterval(WorkerId(0)), Duration(100));
  // The last one is answered just before its next push: what it was held is no wait of the worker's.
  block.now_ns -= 1;
  block.Push(1, 3);
  EXPECT_EQ(block->waiting(), 0U);
  block.now_ns += 1;
  block.Push(0, 4);
  EXPECT_EQ(block->progress().PushInterval(WorkerId(0)), Duration(100));
}

TEST(BlockWaitsTest, AHoldFromBeforeThePushIsNoPartOfThePaceAfterIt) {
  HandFedBlock block({.sync = "bsp", .apply = "immediate"});
  block.Begin(2);
  block.Push(0, 0);
  block.Pull(0, 0);
  block.now_ns = 900;
  block.Push(0, 1);
  block.now_ns = 950;
  block.Push(1, 1);
  block.now_ns = 1000;
  block.Push(0, 2);
  EXPECT_EQ(block->progress().PushInterval(WorkerId(0)), Duration(100));
}

TEST(BlockWaitsTest, AnAnswerSaysHowLongTheModelMadeItsPullWait) {
  HandFedBlock block({.sync = "bsp"});
  block.Begin(2);
  block.Push(0, 0);
  block.now_ns = 5'000;
  block.Pull(0, 0);
  block.now_ns = 47'000;
  block.Push(1, 0);
  EXPECT_EQ(block.held_us(0), 42);
  block.Pull(1, 0);
  EXPECT_EQ(block.held_us(1), 0) << "it did not wait";
}

TEST(BlockWaitsTest, ADelayedPullOfAnotherLifeIsADelayedPullOfItsOwn) {
  HandFedBlock block({.sync = "bsp", .apply = "immediate"});
  block.Begin(2);
  for (int i = 0; i < 6; ++i) block.Push(0, i);
  block.Pull(0, 5);
  block.Pull(0, 5);
  EXPECT_EQ(block->counters().delayed, 1U) << "asked again it is the same";
  block.Leave(0).Join(0, 0, 2).Roster();
  block.Push(0, 1, {}, 2);
  block.Pull(0, 1, 2);
  EXPECT_EQ(block->counters().delayed, 2U);
}

TEST(BlockWaitsTest, TheOnesThatHoldUpMostAreKeptApartHoweverManyThereAre) {
  BlockCounters counters;
  for (std::uint32_t w = 0; w < 1000; ++w)
    counters.ChargeWait(WorkerId(w), Duration(w == 7 ? 100'000 : 1 + w));
  EXPECT_LE(counters.waited_for.size(), 40U);
  EXPECT_EQ(counters.waited_for.at(WorkerId(7)), Duration(100'000));
  Duration sum{};
  for (const auto& [worker, waited] : counters.waited_for) sum += waited;
  EXPECT_EQ(sum, Duration(100'000 + 1000 * 1001 / 2 - 8)) << "and nothing of the sum is lost";
}

TEST(BlockCountersTest, AddingUpTakesEverything) {
  BlockCounters a, b;
  a.late_applied = 1;
  a.switches = 2;
  a.compensated = 3;
  a.uncompensated = 4;
  a.delayed_wait = Duration(5);
  a.blocked_wait = Duration(6);
  a.ChargeWait(WorkerId(1), Duration(7));
  a.lead_read.Add(3);
  b += a;
  b += a;
  EXPECT_EQ(b.late_applied, 2U);
  EXPECT_EQ(b.switches, 4U);
  EXPECT_EQ(b.compensated, 6U);
  EXPECT_EQ(b.uncompensated, 8U);
  EXPECT_EQ(b.delayed_wait, Duration(10));
  EXPECT_EQ(b.blocked_wait, Duration(12));
  EXPECT_THAT(b.waited_for, ElementsAre(Pair(WorkerId(1), Duration(14))));
  EXPECT_EQ(b.lead_read.buckets[3], 2U);
}

TEST(WaitingPullsTest, RanksThatNoJobHasCostNoMemoryForThoseInBetween) {
  WaitingPulls pulls;
  const WorkerId far(4'000'000'000U);
  const auto pull = [](WorkerId worker, std::int64_t progress) {
    return PullEvent{.from = {worker, Incarnation(1)}, .progress = Iteration(progress)};
  };
  EXPECT_TRUE(pulls.Delay(pull(far, 3), {}));
  EXPECT_TRUE(pulls.Delay(pull(WorkerId(1), 3), {}));
  pulls.HoldUnready(pull(WorkerId(70'000), 3), {});
  EXPECT_EQ(pulls.size(), 3U);
  EXPECT_FALSE(pulls.TakeDelayedBelow(Iteration(3)).has_value());
  EXPECT_EQ(pulls.TakeDelayedBelow(Iteration(4))->pull.from.worker, WorkerId(1));
  EXPECT_EQ(pulls.TakeDelayedBelow(Iteration(4))->pull.from.worker, far);
  EXPECT_EQ(pulls.TakeUnready().size(), 1U);
  EXPECT_EQ(pulls.size(), 0U);
}

}  // namespace
}  // namespace leeway
