// Scale: maps values to pixels, linearly or logarithmically, and finds round numbers for marks (1, 2, 5 times
// a power of ten). Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace leeway::chart {

enum class ScaleKind : std::uint8_t { kLinear, kLog };

// Returns whether a picture can show a value: finite, of a size whose differences are finite too, and above
// zero on a logarithmic scale. The charts draw any other value as a gap.
bool IsDrawable(double value, ScaleKind kind = ScaleKind::kLinear);

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  [[nodiscard]] bool empty() const { return low > high; }
  void Add(double value);
};

class Scale {
 public:
  // REQUIRES: range.low < range.high, both drawable on a scale of this kind.
  Scale(ScaleKind kind, const Range& range, double pixel_low, double pixel_high);
  // NaN for a value that is not drawable. A value far beyond the range stays within some screens of it.
  [[nodiscard]] double At(double value) const;

 private:
  ScaleKind kind_;
  double low_;
  double per_pixel_;
  double pixel_low_;
  double pixel_high_;
};

// The smallest of 1, 2, 5 times a power of ten that divides the range into at most `parts_max`.
double NiceStep(const Range& range, std::size_t parts_max);
// The multiples of the step within the range. REQUIRES: the range is longer than a billionth of its larger
// end.
std::vector<double> Multiples(const Range& range, double step);

struct LogMarks {
  std::vector<double> major;
  std::vector<double> minor;  // without a label
};
// REQUIRES: 0 < range.low < range.high.
LogMarks MarksOfLog(const Range& range, std::size_t parts_max);

}  // namespace leeway::chart
