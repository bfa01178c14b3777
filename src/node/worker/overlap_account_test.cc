#include "node/worker/overlap_account.h"

#include <gtest/gtest.h>

namespace leeway {
namespace {

constexpr TableId kFirst{0}, kLast{1};

TimePoint At(std::int64_t ms) { return TimePoint(std::chrono::milliseconds(ms)); }

std::int64_t Ms(Duration time) { return std::chrono::duration_cast<std::chrono::milliseconds>(time).count(); }

class OverlapAccountTest : public ::testing::Test {
 protected:
  void Ready(TableId table, std::int64_t iteration, std::int64_t ms) {
    account.Ready(table, Iteration(iteration), At(ms), At(ms));
  }
  void Left(TableId table, std::int64_t iteration, std::int64_t ms) {
    account.Left(table, Iteration(iteration), At(ms));
  }
  void Arrived(TableId table, std::int64_t progress, std::int64_t ms, std::int64_t held_ms = 0) {
    account.Arrived(table, Iteration(progress), std::chrono::milliseconds(held_ms), At(ms));
  }
  void Needed(TableId table, std::int64_t ms) { account.Needed(table, At(ms), At(ms)); }
  void Released(TableId table, std::int64_t ms) { account.Released(table, At(ms)); }
  [[nodiscard]] double Overlap(std::int64_t ms) const { return account.Total(At(ms)).overlap().value_or(-1); }

  OverlapAccount account;
};

TEST_F(OverlapAccountTest, ValuesThatArriveBeforeTheyAreNeededAreHidden) {
  EXPECT_FALSE(account.Total(At(0)).overlap().has_value());
  Ready(kFirst, 0, 100);
  Left(kFirst, 0, 101);
  Arrived(kFirst, 0, 140);
  Needed(kFirst, 150);
  Released(kFirst, 150);
  EXPECT_EQ(Ms(account.Of(kFirst).communication), 40);
  EXPECT_EQ(Ms(account.Of(kFirst).waited()), 0);
  EXPECT_EQ(Overlap(200), 1.0);
}

TEST_F(OverlapAccountTest, AWaitIsDividedAtTheMomentWhenTheGradientLeft) {
  Ready(kFirst, 0, 100);
  Needed(kFirst, 110);
  Left(kFirst, 0, 120);
  Left(kFirst, 0, 130);  // its last part
  Arrived(kFirst, 0, 200);
  Released(kFirst, 200);
  const OverlapTimes times = account.Of(kFirst);
  EXPECT_EQ(Ms(times.queue), 20);
  EXPECT_EQ(Ms(times.wire), 70);
  EXPECT_EQ(Ms(times.held), 0);
  EXPECT_EQ(Ms(times.communication), 100);
  EXPECT_NEAR(*times.overlap(), 0.1, 1e-9);
}

TEST_F(OverlapAccountTest, ThePartOfAWaitInWhichTheModelHeldThePullIsToldApart) {
  Ready(kFirst, 0, 100);
  Left(kFirst, 0, 100);
  Needed(kFirst, 110);
  Arrived(kFirst, 0, 200, /*held_ms=*/60);  // the ways took 40 ms: it was held from 120 to 180
  Released(kFirst, 230);                    // a rule of its own kept the worker for 30 ms more
  EXPECT_EQ(Ms(account.Of(kFirst).held), 60 + 30);
  EXPECT_EQ(Ms(account.Of(kFirst).wire), 10 + 20);
  EXPECT_EQ(Ms(account.Total(At(500)).communication), 130) << "a wait is communication to its end";
}

TEST_F(OverlapAccountTest, AHoldCountsOnlyWhereTheUserWaited) {
  Ready(kFirst, 0, 100);
  Left(kFirst, 0, 100);
  Needed(kFirst, 170);
  Arrived(kFirst, 0, 200, /*held_ms=*/60);
  Released(kFirst, 200);
  EXPECT_EQ(Ms(account.Of(kFirst).held), 10) << "computing hid the others";
  EXPECT_EQ(Ms(account.Of(kFirst).wire), 20);
  Ready(kFirst, 1, 300);
  Left(kFirst, 1, 300);
  Needed(kFirst, 395);
  Arrived(kFirst, 1, 400, /*held_ms=*/60);
  Released(kFirst, 400);
  EXPECT_EQ(Ms(account.Of(kFirst).held), 10) << "the hold was over before";
  EXPECT_EQ(Ms(account.Of(kFirst).wire), 25);
}

TEST_F(OverlapAccountTest, AHoldIsNoLongerThanTheCommunicationAroundIt) {
  Ready(kFirst, 0, 100);
  Needed(kFirst, 100);
  Left(kFirst, 0, 130);
  Arrived(kFirst, 0, 200, /*held_ms=*/4'000'000);  // a peer says what it likes
  Released(kFirst, 200);
  EXPECT_EQ(Ms(account.Of(kFirst).queue), 30);
  EXPECT_EQ(Ms(account.Of(kFirst).held), 70);
  EXPECT_EQ(Ms(account.Of(kFirst).wire), 0);
  Ready(kFirst, 1, 300);
  Left(kFirst, 1, 300);
  Needed(kFirst, 300);
  Arrived(kFirst, 1, 310);
  Released(kFirst, 310);
  EXPECT_EQ(Ms(account.Of(kFirst).held), 70) << "each iteration has a hold of its own";
}

TEST_F(OverlapAccountTest, TheWaitBeforeABarrierIsForTheOtherWorkers) {
  Ready(kFirst, 0, 100);
  Left(kFirst, 0, 110);
  Needed(kFirst, 120);
  account.NoteBarrier(At(150));
  Arrived(kFirst, 0, 155);
  Released(kFirst, 155);
  EXPECT_EQ(Ms(account.Of(kFirst).held), 30);
  EXPECT_EQ(Ms(account.Of(kFirst).wire), 5);
  Ready(kFirst, 1, 200);
  Needed(kFirst, 200);
  Arrived(kFirst, 1, 210);
  Released(kFirst, 210);
  EXPECT_EQ(Ms(account.Of(kFirst).wire), 15) << "the barrier before is no part of this wait";
}

TEST_F(OverlapAccountTest, TablesThatOverlapCountOnceForTheWorker) {
  Ready(kLast, 0, 100);
  Ready(kFirst, 0, 150);
  Arrived(kLast, 0, 160);
  Arrived(kFirst, 0, 200);
  Ready(kLast, 1, 300);
  EXPECT_EQ(Ms(account.Total(At(320)).communication), 120) << "with what is open now";
  EXPECT_EQ(Ms(account.Of(kLast).communication), 60);
  EXPECT_EQ(Ms(account.Of(kFirst).communication), 50);
}

TEST_F(OverlapAccountTest, WaitsBesideEachOtherAddUpToTheTimeThatTheUserWaited) {
  Ready(kFirst, 0, 100);
  Ready(kLast, 0, 100);
  Needed(kFirst, 110);
  Needed(kLast, 120);
  Arrived(kFirst, 0, 150);
  Released(kFirst, 150);
  Arrived(kLast, 0, 170);
  Released(kLast, 170);
  EXPECT_EQ(Ms(account.Of(kFirst).waited()), 40);
  EXPECT_EQ(Ms(account.Of(kLast).waited()), 20);
  EXPECT_EQ(Ms(account.Total(At(170)).waited()), 60);
}

TEST_F(OverlapAccountTest, TheUsersTimesCountFromBeforeTheNodeSawTheCalls) {
  account.Ready(kFirst, Iteration(0), At(100), At(104));
  Left(kFirst, 0, 104);
  account.Needed(kFirst, At(110), At(115));
  Arrived(kFirst, 0, 120);
  Released(kFirst, 120);
  account.Ready(kLast, Iteration(0), TimePoint::max(), At(130));  // it does not say: now
  Arrived(kLast, 0, 131);
  const OverlapTimes total = account.Total(At(140));
  EXPECT_EQ(Ms(total.communication), 21);
  EXPECT_EQ(Ms(total.wire), 10);
  EXPECT_EQ(Ms(total.delay), 4);
  EXPECT_EQ(total.pushes, 1U);
  EXPECT_EQ(total.slow_pushes, 1U);
}

TEST_F(OverlapAccountTest, AMomentCountsOnceAlsoIfACallIsSeenLate) {
  Ready(kFirst, 0, 100);
  Arrived(kFirst, 0, 120);
  account.Ready(kLast, Iteration(0), At(110), At(125));
  Arrived(kLast, 0, 130);
  EXPECT_EQ(Ms(account.Total(At(200)).communication), 30);
}

TEST_F(OverlapAccountTest, WhatComesBeforeTheFirstGradientOrForAnOlderIterationDoesNotCount) {
  Needed(kFirst, 10);
  Released(kFirst, 90);
  EXPECT_EQ(Ms(account.Total(At(90)).communication), 0);
  Ready(kFirst, 5, 100);
  Arrived(kFirst, 4, 110);
  Left(kFirst, 4, 110);
  EXPECT_TRUE(account.IsOpen(kFirst));
  EXPECT_EQ(account.Total(At(110)).pushes, 0U);
  Arrived(kFirst, 5, 120);
  EXPECT_FALSE(account.IsOpen(kFirst));
}

TEST_F(OverlapAccountTest, AnIterationWhoseValuesNeverCameEndsWithTheNext) {
  Ready(kFirst, 0, 100);
  Ready(kFirst, 1, 150);
  Arrived(kFirst, 1, 160);
  EXPECT_EQ(Ms(account.Of(kFirst).communication), 60);
  EXPECT_EQ(Ms(account.Total(At(200)).communication), 60);
}

TEST_F(OverlapAccountTest, AWorkerThatLeavesCountsNoMore) {
  Ready(kFirst, 0, 100);
  Needed(kLast, 120);
  account.Stop(At(130));
  Ready(kLast, 1, 150);
  Needed(kFirst, 150);
  EXPECT_EQ(Ms(account.Total(At(300)).communication), 30);
  EXPECT_EQ(Ms(account.Total(At(300)).waited()), 0);
}

}  // namespace
}  // namespace leeway
