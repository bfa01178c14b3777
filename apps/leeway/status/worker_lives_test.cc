#include "status/worker_lives.h"

#include <gtest/gtest.h>

namespace leeway::app {
namespace {

using std::chrono::milliseconds;

constexpr ProcessEnd kKilled{137, 9};
constexpr ProcessEnd kFencedExit{131, 0};

TEST(WorkerLivesTest, TheExitCodeTellsAnErrorFromALoss) {
  WorkerLives lives(1, {});
  lives.Start(0, LifeBegan::kStart);
  EXPECT_EQ(lives.End(0, {0, 0}, false), LifeEnd::kDone);
  EXPECT_EQ(lives.End(0, {1, 0}, false), LifeEnd::kFailed);
  EXPECT_EQ(lives.End(0, {127, 0}, false), LifeEnd::kFailed);
  EXPECT_EQ(lives.End(0, {128, 0}, false), LifeEnd::kLost);
  EXPECT_EQ(lives.End(0, kKilled, false), LifeEnd::kLost);
  EXPECT_EQ(lives.End(0, {143, 15}, true), LifeEnd::kAsked);
}

TEST(WorkerLivesTest, RestartsAreCountedOverAllWorkersAndWaitLongerEachTime) {
  WorkerLives lives(2, {.restarts = 3});
  WorkerLives::NextLife next;
  for (const int wait : {500, 1000}) {
    lives.Start(0, next.began);
    lives.End(0, kKilled, false);
    ASSERT_TRUE(lives.TakeNext(0, next));
    EXPECT_EQ(next.back_off, milliseconds(wait));
  }
  EXPECT_EQ(next.why, "restart 2 of 3");
  lives.Start(1, LifeBegan::kStart);
  lives.End(1, kKilled, false);
  ASSERT_TRUE(lives.TakeNext(1, next));
  EXPECT_EQ(next.back_off, milliseconds(500)) << "its own first";
  lives.Start(1, next.began);
  EXPECT_EQ(lives.RestartsOf(1), 1U);
  lives.End(1, kKilled, false);
  EXPECT_FALSE(lives.TakeNext(1, next));
}

TEST(WorkerLivesTest, OneThatWasFencedRejoinsWithoutBeingCountedIfSaidSo) {
  WorkerLives lives(1, {.restarts = 1, .rejoin = true});
  WorkerLives::NextLife next;
  lives.Start(0, LifeBegan::kStart);
  for (int i = 0; i < 20; ++i) {
    lives.End(0, kFencedExit, false);
    ASSERT_TRUE(lives.TakeNext(0, next));
    EXPECT_EQ(next.began, LifeBegan::kRejoin);
    EXPECT_LE(next.back_off, milliseconds(10'000));
    lives.Start(0, next.began);
  }
  lives.End(0, {131, 3}, false);
  ASSERT_TRUE(lives.TakeNext(0, next));
  EXPECT_EQ(next.began, LifeBegan::kRestart) << "SIGQUIT's 131 is no fence";
  WorkerLives without(1, {});
  without.Start(0, LifeBegan::kStart);
  without.End(0, kFencedExit, false);
  EXPECT_FALSE(without.TakeNext(0, next));
}

TEST(WorkerLivesTest, OnlyWhatWentOtherwiseIsWorthTelling) {
  WorkerLives lives(2, {.restarts = 1});
  for (const std::uint32_t rank : {0U, 1U}) {
    lives.Start(rank, LifeBegan::kStart);
    lives.End(rank, {0, 0}, false);
  }
  EXPECT_FALSE(lives.Eventful());
  EXPECT_EQ(lives.CountNow(LifeEnd::kDone), 2U);
  lives.Start(1, LifeBegan::kRestart);
  EXPECT_TRUE(lives.Eventful());
  EXPECT_EQ(lives.CountNow(LifeEnd::kDone), 1U);
  EXPECT_EQ(lives.Count(1, LifeBegan::kRestart), 1U);
}

}  // namespace
}  // namespace leeway::app
