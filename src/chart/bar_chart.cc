#include "chart/bar_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chart/bar_layout.h"
#include "chart/category_names.h"
#include "chart/legend.h"
#include "chart/quantity.h"
#include "chart/text.h"

namespace leeway::chart {
namespace {

constexpr double kValueFont = 11;
constexpr double kBarWidthMax = 54;

// Where the bars of a category stand.
struct Slots {
  double band = 0;   // of a category
  double width = 0;  // of a bar
  std::size_t count = 0;

  [[nodiscard]] double Left(const Box& box, std::size_t category, std::size_t slot) const {
    const double middle = box.left + band * (static_cast<double>(category) + 0.5);
    return middle + (static_cast<double>(slot) - static_cast<double>(count) / 2) * width;
  }
};

Slots SlotsIn(const BarChart& chart, const BarLayout& layout, const Box& box) {
  Slots slots;
  slots.count = std::max<std::size_t>(layout.slots, 1);
  slots.band = box.width() / static_cast<double>(std::max<std::size_t>(chart.categories.size(), 1));
  slots.width = std::min(kBarWidthMax, slots.band * 0.78 / static_cast<double>(slots.count));
  return slots;
}

// How values are written above bars of some width.
enum class Values : std::uint8_t { kNone, kAcross, kUp };

double LongestValue(const BarLayout& layout, const FittedAxis& axis) {
  double longest = 0;
  for (const BarPiece& piece : layout.pieces) {
    if (piece.is_end) longest = std::max(longest, TextWidth(axis.ValueText(piece.total), kValueFont));
  }
  return longest;
}

Values ValuesFor(const BarChart& chart, double longest, double bar_width) {
  if (!chart.values || longest == 0) return Values::kNone;
  // Neighbours rarely have the same height, so a label may be a little wider than its bar.
  if (longest <= bar_width + 4) return Values::kAcross;
  return bar_width >= 11 ? Values::kUp : Values::kNone;
}

void DrawWhisker(Canvas& canvas, const BarPiece& piece, const Scale& y, double middle, double width,
                 double base) {
  if (std::isnan(piece.low) || std::isnan(piece.high)) return;
  const double top = y.At(piece.high);
  double bottom = y.At(piece.low);
  if (std::isnan(bottom)) bottom = base;  // at or below zero on a logarithmic scale
  if (std::isnan(top)) return;
  const double arm = std::clamp(width / 5, 1.5, 6.0);
  std::string path;
  AppendPoint(path, 'M', middle, top);
  AppendPoint(path, 'L', middle, bottom);
  AppendPoint(path, 'M', middle - arm, top);
  AppendPoint(path, 'L', middle + arm, top);
  AppendPoint(path, 'M', middle - arm, bottom);
  AppendPoint(path, 'L', middle + arm, bottom);
  canvas.Path(path, "w");
}

void DrawValue(Canvas& canvas, const FittedAxis& axis, const BarPiece& piece, const Scale& y, double middle,
               double base, Values how) {
  const std::string text = axis.ValueText(piece.total);
  const bool down = piece.to < piece.from;
  double at = y.At(piece.to);
  if (std::isnan(at)) at = base;
  const double whisker = y.At(down ? piece.low : piece.high);
  if (!std::isnan(whisker)) at = down ? std::max(at, whisker) : std::min(at, whisker);
  if (how == Values::kUp) {
    canvas.TurnedText(middle + 4, down ? at + 5 : at - 5, -90, text, down ? "v e" : "v");
  } else {
    canvas.Text(middle, down ? at + 13 : at - 5, text, "v m");
  }
}

std::string TooltipOf(const BarChart& chart, const BarPiece& piece) {
  std::string text = fmt::format("{}\n{}{}{}", ClippedTo(chart.categories[piece.category], 80),
                                 ClippedTo(chart.series[piece.series].name, 80),
                                 chart.series[piece.series].name.empty() ? "" : ": ",
                                 FormatQuantity(piece.value, chart.y.unit, 4));
  if (!std::isnan(piece.low) && !std::isnan(piece.high)) {
    text += fmt::format(" ({} to {})", FormatQuantity(piece.low, chart.y.unit, 4),
                        FormatQuantity(piece.high, chart.y.unit, 4));
  }
  return text;
}

void DrawBars(Canvas& canvas, const BarChart& chart, const BarLayout& layout, const FittedAxis& axis,
              const Slots& slots, const Box& box, Values how) {
  const Scale y = axis.Over(box.bottom, box.top);
  const double base = axis.kind == ScaleKind::kLog ? box.bottom : std::clamp(y.At(0), box.top, box.bottom);
  const double gap = slots.width > 8 ? 1 : 0;
  for (const BarPiece& piece : layout.pieces) {
    const double left = slots.Left(box, piece.category, piece.slot);
    const auto inside = [&](double value) {
      const double at = y.At(value);
      return std::isnan(at) ? base : std::clamp(at, box.top, box.bottom);
    };
    const double a = inside(piece.from);
    const double b = inside(piece.to);
    const double middle = left + slots.width / 2;
    if (std::abs(a - b) > 0.05) {
      canvas.Open(ClassOf(layout.colours[piece.series]));
      DrawSwatch(canvas, {left + gap, std::min(a, b), left + slots.width - gap, std::max(a, b)},
                 chart.series[piece.series].paper, TooltipOf(chart, piece));
      canvas.Close();
    }
    DrawWhisker(canvas, piece, y, middle, slots.width, base);
    if (piece.is_end && how != Values::kNone) DrawValue(canvas, axis, piece, y, middle, base, how);
  }
  canvas.Line(box.left, base, box.right, base, "a");
}

}  // namespace

Drawing Draw(const BarChart& chart) {
  Canvas canvas(chart.width, chart.height);
  const BarLayout layout = LayOut(chart);
  double top = canvas.Heading(chart.title, chart.note);
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    if (!chart.series[i].name.empty())
      entries.push_back({chart.series[i].name, layout.colours[i], chart.series[i].paper});
  }
  top = DrawLegend(canvas, entries, top);

  // The width of the left labels is unknown before their axis is fitted, and hardly changes what fits below.
  Box box{56, top + kLeftLabelHeight, std::max(chart.width - 16.0, 116.0), 0};
  const CategoryNames names(chart.categories, SlotsIn(chart, layout, box).band);
  box.bottom = std::max(box.top + 40, chart.height - names.height());
  AxisFit fit{.length_px = box.height(), .upright = true, .with_zero = true};
  const double longest = LongestValue(layout, FitAxis(chart.y, layout.range, fit));
  const Values how = ValuesFor(chart, longest, SlotsIn(chart, layout, box).width);
  const double above = how == Values::kNone ? 4 : how == Values::kAcross ? 20 : longest + 12;
  fit.headroom = std::min(above / std::max(40.0, box.height() - above), 0.8);
  const FittedAxis axis = FitAxis(chart.y, layout.range, fit);
  box.left = LeftAxisWidth(axis);
  box.right = std::max(box.right, box.left + 60);
  DrawLeftAxis(canvas, axis, box);
  DrawBars(canvas, chart, layout, axis, SlotsIn(chart, layout, box), box, how);
  names.Draw(canvas, box);
  return std::move(canvas).Finish(chart.title);
}

}  // namespace leeway::chart
