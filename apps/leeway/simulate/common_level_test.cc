#include "simulate/common_level.h"

#include <gtest/gtest.h>

#include <cmath>

#include "simulate/testing/made_study.h"

namespace leeway::app {
namespace {

using testing::MadeRun;
using testing::MadeStudy;
using testing::RunThatNeverBegan;

TEST(CommonLevelTest, TheLevelIsWhatTheWorstRunReaches) {
  scenario::RunRecord lower = MadeRun(10);
  lower.curve.back().accuracy = 0.74;
  const auto level =
      CommonLevelOf(MadeStudy({{"bsp", {MadeRun(20), lower}}, {"asp", {MadeRun(10), MadeRun(10)}}}));
  ASSERT_TRUE(level.has_value());
  EXPECT_EQ(level->text(), "accuracy 0.74");
  // From 0.5 at 5 s to 0.9 at 10 s.
  EXPECT_NEAR(level->seconds[1][0], 8, 1e-9);
  EXPECT_NEAR(level->seconds[0][0], 16, 1e-9);
  EXPECT_NEAR(level->seconds[0][1], 10, 1e-9);
}

TEST(CommonLevelTest, ALossIsReachedFromAbove) {
  scenario::RunRecord run = MadeRun(10);
  for (scenario::CurvePoint& point : run.curve) point.accuracy = NAN;
  const auto level = CommonLevelOf(MadeStudy({{"bsp", {run}}}));
  ASSERT_TRUE(level.has_value());
  EXPECT_EQ(level->text(), "loss 0.5");
  EXPECT_NEAR(level->seconds[0][0], 10, 1e-9);
}

TEST(CommonLevelTest, ACellThatHardlyLearnsIsLeftBehind) {
  scenario::RunRecord stuck = MadeRun(10);
  for (scenario::CurvePoint& point : stuck.curve) point.accuracy = std::min(point.accuracy, 0.2);
  const auto level = CommonLevelOf(MadeStudy({{"bsp", {MadeRun(20)}}, {"asp", {stuck}}}));
  ASSERT_TRUE(level.has_value());
  EXPECT_EQ(level->text(), "accuracy 0.9");
  EXPECT_TRUE(std::isnan(level->seconds[1][0]));
}

TEST(CommonLevelTest, WithoutCurvesThereIsNone) {
  scenario::RunRecord run = MadeRun(10);
  run.curve.clear();
  EXPECT_FALSE(CommonLevelOf(MadeStudy({{"bsp", {run, RunThatNeverBegan()}}})).has_value());
}

}  // namespace
}  // namespace leeway::app
