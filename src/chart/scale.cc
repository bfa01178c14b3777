#include "chart/scale.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace leeway::chart {
namespace {

constexpr double kDrawableMax = 1e100;
constexpr double kSlack = 1e-9;  // of a step: a mark at the very end of a range is in it

double Along(double value, ScaleKind kind) { return kind == ScaleKind::kLog ? std::log10(value) : value; }

double PowerOfTen(int exponent) { return std::pow(10.0, exponent); }

}  // namespace

bool IsDrawable(double value, ScaleKind kind) {
  if (!std::isfinite(value) || std::abs(value) > kDrawableMax) return false;
  return kind == ScaleKind::kLinear || value >= 1 / kDrawableMax;
}

void Range::Add(double value) {
  low = std::min(low, value);
  high = std::max(high, value);
}

Scale::Scale(ScaleKind kind, const Range& range, double pixel_low, double pixel_high)
    : kind_(kind), low_(Along(range.low, kind)), pixel_low_(pixel_low), pixel_high_(pixel_high) {
  const double length = Along(range.high, kind) - low_;
  LW_CHECK(length > 0, "a scale from {} to {}", range.low, range.high);
  per_pixel_ = (pixel_high - pixel_low) / length;
}

double Scale::At(double value) const {
  if (!IsDrawable(value, kind_)) return std::numeric_limits<double>::quiet_NaN();
  const double reach = 4 * std::abs(pixel_high_ - pixel_low_);
  const double at = pixel_low_ + (Along(value, kind_) - low_) * per_pixel_;
  return std::clamp(at, std::min(pixel_low_, pixel_high_) - reach, std::max(pixel_low_, pixel_high_) + reach);
}

double NiceStep(const Range& range, std::size_t parts_max) {
  const double least = (range.high - range.low) / static_cast<double>(std::max<std::size_t>(parts_max, 1));
  const double power = PowerOfTen(static_cast<int>(std::floor(std::log10(least))));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (times * power >= least * (1 - kSlack)) return times * power;
  }
  return 10 * power;
}

std::vector<double> Multiples(const Range& range, double step) {
  std::vector<double> marks;
  // Whole numbers, since a range is never so far from zero that its steps have more digits than a double.
  const auto first = static_cast<std::int64_t>(std::ceil(range.low / step - kSlack));
  const auto last = static_cast<std::int64_t>(std::floor(range.high / step + kSlack));
  for (std::int64_t i = first; i <= last; ++i) marks.push_back(static_cast<double>(i) * step);
  return marks;
}

LogMarks MarksOfLog(const Range& range, std::size_t parts_max) {
  LogMarks marks;
  const int first = static_cast<int>(std::floor(std::log10(range.low) + kSlack));
  const int last = static_cast<int>(std::ceil(std::log10(range.high) - kSlack));
  const auto inside = [&](double value) {
    return value >= range.low * (1 - kSlack) && value <= range.high * (1 + kSlack);
  };
  const double decades = std::log10(range.high / range.low);
  if (decades < 1) {
    marks.major = Multiples(range, NiceStep(range, parts_max));
    std::erase_if(marks.major, [](double value) { return value <= 0; });
    return marks;
  }
  const int parts = static_cast<int>(std::max<std::size_t>(parts_max, 1));
  const int stride = std::max(1, (last - first + parts - 1) / parts);
  const bool finer = decades * 3 <= parts;  // room for 2 and 5 too
  for (int exponent = first; exponent <= last; ++exponent) {
    for (int times = 1; times < 10; ++times) {
      const double value = times * PowerOfTen(exponent);
      if (!inside(value)) continue;
      const bool labelled =
          times == 1 ? (exponent - first) % stride == 0 : finer && (times == 2 || times == 5);
      if (labelled) {
        marks.major.push_back(value);
      } else if (stride == 1) {
        marks.minor.push_back(value);
      }
    }
  }
  return marks;
}

}  // namespace leeway::chart
