#include "chart/scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace leeway::chart {
namespace {

using ::testing::ElementsAre;
using ::testing::Pointwise;

MATCHER(NearlyTheSame, "") {
  return std::abs(std::get<0>(arg) - std::get<1>(arg)) < 1e-9 * (1 + std::abs(std::get<1>(arg)));
}

TEST(ScaleTest, LinearAndLogarithmicScalesMeetTheirEnds) {
  const Scale linear(ScaleKind::kLinear, {-10, 10}, 100, 300);
  EXPECT_DOUBLE_EQ(linear.At(-10), 100);
  EXPECT_DOUBLE_EQ(linear.At(0), 200);
  EXPECT_DOUBLE_EQ(linear.At(10), 300);
  const Scale log(ScaleKind::kLog, {1, 10000}, 300, 100);
  EXPECT_DOUBLE_EQ(log.At(1), 300);
  EXPECT_DOUBLE_EQ(log.At(100), 200);
  EXPECT_DOUBLE_EQ(log.At(10000), 100);
}

TEST(ScaleTest, WhatCannotBeDrawnIsNaN) {
  const Scale linear(ScaleKind::kLinear, {0, 1}, 0, 100);
  EXPECT_TRUE(std::isnan(linear.At(NAN)));
  EXPECT_TRUE(std::isnan(linear.At(INFINITY)));
  EXPECT_TRUE(std::isnan(linear.At(1e300)));
  EXPECT_FALSE(std::isnan(linear.At(-5)));
  const Scale log(ScaleKind::kLog, {1, 10}, 0, 100);
  EXPECT_TRUE(std::isnan(log.At(0)));
  EXPECT_TRUE(std::isnan(log.At(-1)));
}

TEST(ScaleTest, ValuesFarOutsideStayNear) {
  const Scale scale(ScaleKind::kLinear, {0, 1}, 0, 100);
  EXPECT_LE(scale.At(1e90), 500);
  EXPECT_GE(scale.At(-1e90), -400);
}

TEST(ScaleTest, StepsAreOneTwoOrFive) {
  EXPECT_DOUBLE_EQ(NiceStep({0, 10}, 5), 2);
  EXPECT_DOUBLE_EQ(NiceStep({0, 10}, 10), 1);
  EXPECT_DOUBLE_EQ(NiceStep({0, 10}, 4), 5);
  EXPECT_DOUBLE_EQ(NiceStep({0, 11}, 1), 20);
  EXPECT_DOUBLE_EQ(NiceStep({0, 0.003}, 5), 0.001);
  EXPECT_DOUBLE_EQ(NiceStep({-1e9, 1e9}, 5), 5e8);
  EXPECT_DOUBLE_EQ(NiceStep({0, 99}, 1), 100);
}

TEST(ScaleTest, MarksAreTheMultiplesWithinTheRange) {
  EXPECT_THAT(Multiples({0, 10}, 5), ElementsAre(0, 5, 10));
  EXPECT_THAT(Multiples({-3, 4.9}, 2), ElementsAre(-2, 0, 2, 4));
  EXPECT_THAT(Multiples({0, 0.3}, 0.1), Pointwise(NearlyTheSame(), {0.0, 0.1, 0.2, 0.3}))
      << "the last one too";
}

TEST(ScaleTest, MarksOfLogarithmsAreDecadesThenOneTwoFive) {
  EXPECT_THAT(MarksOfLog({1, 10000}, 5).major, Pointwise(NearlyTheSame(), {1, 10, 100, 1000, 10000}));
  EXPECT_EQ(MarksOfLog({1, 10000}, 5).minor.size(), 32U);
  EXPECT_THAT(MarksOfLog({1, 20}, 8).major, Pointwise(NearlyTheSame(), {1, 2, 5, 10, 20}));
  EXPECT_THAT(MarksOfLog({0.5, 5000}, 5).major, Pointwise(NearlyTheSame(), {1, 10, 100, 1000}));
  EXPECT_THAT(MarksOfLog({3, 8}, 5).major, Pointwise(NearlyTheSame(), {3, 4, 5, 6, 7, 8}))
      << "less than a decade: as on a linear one";
}

TEST(ScaleTest, ManyDecadesAreNotAllMarked) {
  const LogMarks marks = MarksOfLog({1e-90, 1e90}, 6);
  EXPECT_LE(marks.major.size(), 7U);
  EXPECT_GE(marks.major.size(), 3U);
  EXPECT_TRUE(marks.minor.empty());
}

}  // namespace
}  // namespace leeway::chart
