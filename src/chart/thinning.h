// Thinning: fewer points that look the same. A line of a million points has no more to show than its lowest
// and highest in every few pixels, and a picture has to stay small.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace leeway::chart {

// A point in pixels. NaN in x or y is a gap; NaN in low or high, no band there.
struct PixelPoint {
  double x = 0;
  double y = 0;
  double low = 0;
  double high = 0;
};

// Indices of at most `points_max` points, in order: all of them, or of every bucket along the line the first,
// lowest, highest and last. A gap stays if it is as wide as a bucket; its index is that of a point that is
// NaN. Buckets are of equal width if x never falls, of equal counts else. REQUIRES: points_max >= 8.
std::vector<std::size_t> Thinned(std::span<const PixelPoint> points, std::size_t points_max);

// A band of at most `points_max` points: all that have one, or the widest of every bucket (with y = NaN).
// Gaps as above.
std::vector<PixelPoint> ThinnedBand(std::span<const PixelPoint> points, std::size_t points_max);

}  // namespace leeway::chart
