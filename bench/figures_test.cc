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
