// Axis: the description of an axis; and FittedAxis, the same fitted to data: its range, its marks and their
// labels.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "chart/canvas.h"
#include "chart/quantity.h"
#include "chart/scale.h"

namespace leeway::chart {

struct Axis {
  std::string label = {};
  std::string unit = {};  // see quantity.h; shown in parentheses behind the label
  ScaleKind scale = ScaleKind::kLinear;
  // Overrides the data's own range. Ignored if the scale cannot show it.
  std::optional<double> low = std::nullopt;
  std::optional<double> high = std::nullopt;
  // Marks instead of round numbers: the measured counts of workers. The axis omits marks outside its range.
  std::vector<double> marks = {};
};

// How an axis is fitted to its data.
struct AxisFit {
  double length_px = 0;  // how many marks there is room for depends on it
  bool upright = false;
  double round_out = 0;    // to the next mark, if that adds at most such a part of the range
  bool with_zero = false;  // even if the data is far from it (a bar begins there)
  double headroom = 0;     // above the data, as a part of the range
};

struct Tick {
  double value = 0;
  std::string text = {};
};

struct FittedAxis {
  ScaleKind kind = ScaleKind::kLinear;
  DisplayUnit shown;  // on a linear axis, of its marks
  Range range;
  std::vector<Tick> ticks = {};
  std::vector<double> minor = {};  // marks without a label
  std::string label = {};          // with the unit
  std::string mark_unit = {};      // on a logarithmic axis, of each mark

  [[nodiscard]] Scale Over(double pixel_low, double pixel_high) const {
    return {kind, range, pixel_low, pixel_high};
  }
  // Formats a value within the picture, where the axis shows the unit.
  [[nodiscard]] std::string ValueText(double value) const;
  // Of the longest label, in pixels.
  [[nodiscard]] double LabelWidth() const;
};

FittedAxis FitAxis(const Axis& axis, const Range& data, const AxisFit& fit);

// Below the box, with its line, marks and label. `grid` draws a line across the box at every mark.
void DrawBottomAxis(Canvas& canvas, const FittedAxis& axis, const Box& box, bool grid);
// At the left of the box, as lines across it; its label stands above the box, where it needs no turning.
void DrawLeftAxis(Canvas& canvas, const FittedAxis& axis, const Box& box);

// Room that the axes take beside their box.
inline constexpr double kBottomAxisHeight = 42;
inline constexpr double kLeftLabelHeight = 32;  // above the box
double LeftAxisWidth(const FittedAxis& axis);

}  // namespace leeway::chart
