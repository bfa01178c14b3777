// Thinning: reduces points without a visible change. A line of a million points shows no more than its lowest
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

// Returns the indices of at most `points_max` points, in order: all of them, or the first, lowest, highest
// and last of every bucket along the line. A gap stays if it is as wide as a bucket; its index is that of a
// NaN point. Buckets have equal widths if x never falls, else equal counts. REQUIRES: points_max >= 8.
std::vector<std::size_t> Thinned(std::span<const PixelPoint> points, std::size_t points_max);

// Returns a band of at most `points_max` points: all that have a band, or the widest of every bucket (with y
// = NaN). Gaps as above.
std::vector<PixelPoint> ThinnedBand(std::span<const PixelPoint> points, std::size_t points_max);

}  // namespace leeway::chart
