#include "node/server/staleness_counts.h"

#include <gtest/gtest.h>

namespace leeway {
namespace {

TEST(StalenessCountsTest, BucketsAreExactAtFirstAndEighthsOfPowersOfTwoThen) {
  std::size_t last = 0;
  for (std::uint64_t versions = 0; versions < 5'000; ++versions) {
    const std::size_t bucket = StalenessCounts::BucketOf(versions);
    const std::uint64_t least = StalenessCounts::LeastOf(bucket);
    ASSERT_LE(least, versions);
    ASSERT_LE(static_cast<double>(versions - least), 0.125 * static_cast<double>(versions)) << versions;
    ASSERT_TRUE(bucket == last || bucket == last + 1) << versions;
    ASSERT_TRUE(bucket == last || least == versions) << versions;
    last = bucket;
  }
  EXPECT_EQ(StalenessCounts::LeastOf(StalenessCounts::BucketOf(31)), 31U);
  EXPECT_EQ(StalenessCounts::BucketOf(1U << 20U), StalenessCounts::kBuckets - 1);
  EXPECT_EQ(StalenessCounts::LeastOf(StalenessCounts::kBuckets - 1), 1U << 20U);
  EXPECT_EQ(StalenessCounts::BucketOf(~std::uint64_t{0}), StalenessCounts::kBuckets - 1);
}

TEST(StalenessCountsTest, FiguresHoldSumsOfWorkersAndTheHistogram) {
  StalenessCounts counts;
  Figures figures;
  counts.AddTo(figures);
  EXPECT_TRUE(figures.all().empty()) << "nothing before the first gradient";
  counts.Note(WorkerId(0), 2);
  counts.Note(WorkerId(0), 100);
  counts.Note(WorkerId(3), 2);
  counts.AddTo(figures);
  EXPECT_EQ(figures.Get("staleness_sum"), 104);
  EXPECT_EQ(figures.Get("staleness_gradients"), 3);
  EXPECT_EQ(figures.Get("staleness_sum.0"), 102);
  EXPECT_EQ(figures.Get("staleness_gradients.0"), 2);
  EXPECT_EQ(figures.Get("staleness_sum.3"), 2);
  EXPECT_EQ(figures.Get("staleness.2"), 2);
  EXPECT_EQ(figures.Get("staleness.96"), 1);
}

TEST(StalenessCountsTest, OfManyWorkersTheStalestAreNamedAndAllAreInTheSum) {
  StalenessCounts counts;
  for (std::uint32_t w = 0; w < 200; ++w) counts.Note(WorkerId(w), w);
  Figures figures;
  counts.AddTo(figures);
  EXPECT_EQ(figures.Get("staleness_sum"), 199 * 200 / 2);
  EXPECT_EQ(figures.Get("staleness_gradients.199"), 1);
  EXPECT_EQ(figures.Get("staleness_gradients.0"), 0);
  EXPECT_LT(figures.all().size(), 200U);
}

}  // namespace
}  // namespace leeway
