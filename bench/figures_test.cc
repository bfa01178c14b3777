#include "figures.h"

#include <gtest/gtest.h>

namespace leeway::bench {
namespace {

TEST(FiguresTest, MedianIsTheMiddleOrTheMeanOfTheTwoMiddleOnes) {
  EXPECT_EQ(Median({5, 1, 9}), 5);
  EXPECT_EQ(Median({5, 1, 9, 7}), 6);
  EXPECT_EQ(Median({3}), 3);
}

TEST(FiguresTest, SpreadIsRelativeToTheMedian) {
  EXPECT_DOUBLE_EQ(Spread({2, 4, 5}), 0.75);
  EXPECT_DOUBLE_EQ(Spread({4}), 0);
  EXPECT_DOUBLE_EQ(Spread({0, 0, 1}), 0) << "no share of nothing";
}

TEST(FiguresTest, ASummaryHasTheExtremes) {
  const Figure figure = Summary({2, 8, 4});
  EXPECT_EQ(figure.median, 4);
  EXPECT_EQ(figure.low, 2);
  EXPECT_EQ(figure.high, 8);
  EXPECT_DOUBLE_EQ(figure.spread, 1.5);
}

TEST(FiguresTest, RatiosAreTakenTurnByTurn) {
  // A machine that became three times slower in the middle changes both, and the ratio not at all.
  EXPECT_EQ(Ratios({9, 3, 3}, {18, 6, 6}), (std::vector<double>{0.5, 0.5, 0.5}));
}

TEST(FiguresTest, QuantilesCountFromTheLowest) {
  std::vector<float> values;
  for (int i = 100; i > 0; --i) values.push_back(static_cast<float>(i));
  EXPECT_EQ(Quantile(values, 0.5), 51);
  EXPECT_EQ(Quantile(values, 0.99), 100);
  EXPECT_EQ(Quantile(values, 0.0), 1);
  EXPECT_EQ(Quantile(values, 1.0), 100);
}

}  // namespace
}  // namespace leeway::bench
