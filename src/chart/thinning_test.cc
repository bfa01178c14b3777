#include "chart/thinning.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace leeway::chart {
namespace {

std::vector<PixelPoint> Wave(std::size_t count) {
  std::vector<PixelPoint> points;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = static_cast<double>(i) * 700 / static_cast<double>(count);
    points.push_back({x, std::sin(x), std::sin(x) + 1, std::sin(x) - 1});
  }
  return points;
}

TEST(ThinningTest, FewPointsStayAsTheyAre) {
  EXPECT_EQ(Thinned(Wave(400), 400).size(), 400U);
  EXPECT_TRUE(Thinned({}, 400).empty());
}

TEST(ThinningTest, ManyPointsKeepTheirEndsAndTheirPeaks) {
  std::vector<PixelPoint> points = Wave(100'000);
  points[12'345].y = 50;
  points[77'777].y = -50;
  const std::vector<std::size_t> kept = Thinned(points, 400);
  EXPECT_LE(kept.size(), 400U);
  EXPECT_GE(kept.size(), 300U);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  EXPECT_EQ(kept.front(), 0U);
  EXPECT_EQ(kept.back(), 99'999U);
  EXPECT_NE(std::find(kept.begin(), kept.end(), 12'345U), kept.end());
  EXPECT_NE(std::find(kept.begin(), kept.end(), 77'777U), kept.end());
}

TEST(ThinningTest, AWideGapStaysAndANarrowOneDoesNot) {
  std::vector<PixelPoint> points = Wave(100'000);
  for (std::size_t i = 40'000; i < 50'000; ++i) points[i].y = NAN;
  for (std::size_t i = 70'000; i < 70'010; ++i) points[i].y = NAN;
  std::size_t gaps = 0;
  for (const std::size_t i : Thinned(points, 400)) gaps += std::isnan(points[i].y) ? 1 : 0;
  EXPECT_EQ(gaps, 1U);
}

TEST(ThinningTest, TheLimitHoldsWhateverTheGaps) {
  std::vector<PixelPoint> points = Wave(100'000);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i / 1'000 % 2 == 1 || i % 3 == 0) points[i].y = NAN;
  }
  EXPECT_LE(Thinned(points, 400).size(), 400U);
  for (PixelPoint& point : points) point.y = NAN;
  EXPECT_TRUE(Thinned(points, 400).empty());
}

TEST(ThinningTest, LinesThatGoBackAndForthAreThinnedByCount) {
  std::vector<PixelPoint> points = Wave(10'000);
  for (PixelPoint& point : points) point.x = 100 * std::cos(point.x);
  const std::vector<std::size_t> kept = Thinned(points, 400);
  EXPECT_LE(kept.size(), 400U);
  EXPECT_GE(kept.size(), 300U);
  for (PixelPoint& point : points) point.x = 5;
  EXPECT_LE(Thinned(points, 400).size(), 400U) << "all at one place";
}

TEST(ThinningTest, ABandKeepsItsWidestPlaces) {
  std::vector<PixelPoint> points = Wave(100'000);
  points[33'333].low = 90;  // pixels grow downwards
  points[66'666].high = -90;
  for (std::size_t i = 0; i < 1'000; ++i) points[i].low = NAN;
  const std::vector<PixelPoint> band = ThinnedBand(points, 200);
  EXPECT_LE(band.size(), 200U);
  double lowest = 0;
  double highest = 0;
  for (const PixelPoint& point : band) {
    if (std::isnan(point.x)) continue;
    lowest = std::max(lowest, point.low);
    highest = std::min(highest, point.high);
  }
  EXPECT_EQ(lowest, 90);
  EXPECT_EQ(highest, -90);
}

}  // namespace
}  // namespace leeway::chart
