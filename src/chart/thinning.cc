#include "chart/thinning.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace leeway::chart {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Which bucket a point falls into.
class Buckets {
 public:
  Buckets(std::span<const PixelPoint> points, std::size_t count)
      : count_(static_cast<double>(count)), points_(static_cast<double>(points.size())) {
    double last = -std::numeric_limits<double>::infinity();
    for (const PixelPoint& point : points) {
      if (std::isnan(point.x)) continue;
      if (point.x < last) by_x_ = false;
      if (std::isinf(last)) first_x_ = point.x;
      last = point.x;
    }
    length_ = last - first_x_;
    if (!(length_ > 0)) by_x_ = false;
  }

  // REQUIRES: point.x is a number.
  [[nodiscard]] long Of(const PixelPoint& point, std::size_t index) const {
    const double part = by_x_ ? (point.x - first_x_) / length_ : static_cast<double>(index) / points_;
    return std::min(static_cast<long>(part * count_), static_cast<long>(count_) - 1);
  }

 private:
  double count_;
  double points_;
  double first_x_ = 0;
  double length_ = 0;
  bool by_x_ = true;
};

bool IsGap(const PixelPoint& point) { return std::isnan(point.x) || std::isnan(point.y); }

bool HasBand(const PixelPoint& point) {
  return !std::isnan(point.x) && !std::isnan(point.low) && !std::isnan(point.high);
}

// The points of a bucket that are kept.
struct Kept {
  std::size_t first;
  std::size_t least;
  std::size_t most;
  std::size_t last;

  void AppendTo(std::vector<std::size_t>& out) const {
    std::array<std::size_t, 4> sorted = {first, least, most, last};
    std::sort(sorted.begin(), sorted.end());
    out.insert(out.end(), sorted.begin(), std::unique(sorted.begin(), sorted.end()));
  }
};

}  // namespace

std::vector<std::size_t> Thinned(std::span<const PixelPoint> points, std::size_t points_max) {
  std::vector<std::size_t> out;
  if (points.size() <= points_max) {
    out.resize(points.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = i;
    return out;
  }
  const Buckets buckets(points, points_max / 4);
  Kept kept{};
  long bucket = -1;
  std::size_t gap = points.size();  // a gap seen since the last drawable point
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (IsGap(points[i])) {
      gap = i;
      continue;
    }
    const long now = buckets.Of(points[i], i);
    if (now != bucket) {
      if (bucket >= 0) {
        kept.AppendTo(out);
        if (gap < points.size() && now > bucket + 1) out.push_back(gap);
      }
      kept = {i, i, i, i};
      bucket = now;
    }
    gap = points.size();
    kept.last = i;
    if (points[i].y < points[kept.least].y) kept.least = i;
    if (points[i].y > points[kept.most].y) kept.most = i;
  }
  if (bucket >= 0) kept.AppendTo(out);
  return out;
}

std::vector<PixelPoint> ThinnedBand(std::span<const PixelPoint> points, std::size_t points_max) {
  std::vector<PixelPoint> out;
  const PixelPoint gap{kNaN, kNaN, kNaN, kNaN};
  if (points.size() <= points_max) {
    for (const PixelPoint& point : points) out.push_back(HasBand(point) ? point : gap);
    return out;
  }
  const Buckets buckets(points, points_max / 2);
  long bucket = -1;
  bool in_gap = false;
  double first_x = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const PixelPoint& point = points[i];
    if (!HasBand(point)) {
      in_gap = true;
      continue;
    }
    const long now = buckets.Of(point, i);
    if (now != bucket) {
      if (bucket >= 0 && in_gap && now > bucket + 1) out.push_back(gap);
      out.push_back({point.x, kNaN, point.low, point.high});
      first_x = point.x;
      bucket = now;
    }
    in_gap = false;
    PixelPoint& widest = out.back();
    widest.x = (first_x + point.x) / 2;
    // Pixels grow downwards, values upwards: the caller's direction decides which of the two is larger.
    const bool upside_down = widest.low > widest.high;
    widest.low = upside_down ? std::max(widest.low, point.low) : std::min(widest.low, point.low);
    widest.high = upside_down ? std::min(widest.high, point.high) : std::max(widest.high, point.high);
  }
  return out;
}

}  // namespace leeway::chart
