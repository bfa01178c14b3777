#include "latency_histogram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway::bench {
namespace {

using ::testing::HasSubstr;

TEST(LatencyHistogramTest, QuantilesAreWithinTwoPercent) {
  LatencyHistogram histogram;
  for (std::uint64_t ns = 1; ns <= 1'000'000; ns += 7) histogram.Note(ns);
  EXPECT_NEAR(histogram.QuantileUs(0.5), 500, 10);
  EXPECT_NEAR(histogram.QuantileUs(0.99), 990, 20);
  EXPECT_NEAR(histogram.QuantileUs(1.0), 1000, 20);
}

TEST(LatencyHistogramTest, EveryTimeHasABucketNearIt) {
  for (std::uint64_t ns = 1; ns < 1ULL << 40; ns += 1 + ns / 9) {
    LatencyHistogram histogram;
    histogram.Note(ns);
    EXPECT_NEAR(histogram.QuantileUs(0.5) * 1e3, static_cast<double>(ns),
                static_cast<double>(ns) * 0.008 + 0.5);
  }
  LatencyHistogram histogram;
  histogram.Note(~0ULL);
  EXPECT_GT(histogram.QuantileUs(0.5), 1e9) << "the longest go into the last bucket";
}

TEST(LatencyHistogramTest, NothingGivesZero) { EXPECT_EQ(LatencyHistogram().QuantileUs(0.5), 0); }

TEST(LatencyHistogramTest, TravelsAsTextAndAddsUp) {
  LatencyHistogram one, other;
  for (int i = 0; i < 3; ++i) one.Note(1000);
  other.Note(5'000'000);
  const Result<LatencyHistogram> read = LatencyHistogram::FromText(one.ToText());
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->ToText(), one.ToText());
  one.Add(other);
  EXPECT_EQ(one.count(), 4U);
  EXPECT_NEAR(one.QuantileUs(1.0), 5000, 50);
  EXPECT_EQ(LatencyHistogram::FromText("-")->count(), 0U);
}

TEST(LatencyHistogramTest, RefusesOtherText) {
  for (const char* text : {"", "12", "12:", "12:3,", "12:3;4:5", "99999:1", "a:1"})
    EXPECT_THAT(LatencyHistogram::FromText(text).status().message(), HasSubstr("bucket:count")) << text;
}

}  // namespace
}  // namespace leeway::bench
