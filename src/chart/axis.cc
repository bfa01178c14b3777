#include "chart/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chart/text.h"

namespace leeway::chart {
namespace {

constexpr double kTickFont = 11;
constexpr double kTickWidthMax = 96;

// Gives a range some length for any data.
Range LinearRange(Range range, const AxisFit& fit) {
  if (range.empty()) return {0, 1};
  const double size = std::max(std::abs(range.low), std::abs(range.high));
  if (fit.with_zero) range.Add(0);
  // Doubles have 16 digits: values that differ only in the last ones leave no room for marks.
  if (range.high - range.low <= size * 1e-9 || range.high - range.low < 1e-100) {
    if (size < 1e-100) return {0, 1};
    return {range.low - size * 0.1, range.high + size * 0.1};
  }
  // Includes zero if it costs little.
  if (range.low > 0 && range.low < 0.35 * range.high) range.low = 0;
  if (range.high < 0 && range.high > 0.35 * range.low) range.high = 0;
  return range;
}

// The next of 1, 2, 5 times a power of ten, below or above.
double RoundedOut(double value, bool up) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  const double times = value / power;
  if (up) return power * (times <= 1 + 1e-9 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
  return power * (times >= 5 ? 5 : times >= 2 ? 2 : 1);
}

Range LogRange(Range range, const AxisFit& fit) {
  if (range.empty()) return {1, 10};
  if (range.high <= range.low * (1 + 1e-9)) {
    range.low /= 2;
    range.high *= 2;
  }
  if (fit.with_zero) {
    // Gives a bar of the smallest value some height too.
    const double decade = std::pow(10.0, std::floor(std::log10(range.low)));
    range.low = range.low < decade * 1.5 ? decade / 2 : decade;
  }
  const double most = fit.round_out * std::log(range.high / range.low);
  const double low = RoundedOut(range.low, false);
  const double high = RoundedOut(range.high, true);
  if (!fit.with_zero && std::log(range.low / low) <= most) range.low = low;
  if (std::log(high / range.high) <= most) range.high = high;
  return range;
}

bool Apply(const Axis& axis, Range& range) {
  Range wanted = range;
  if (axis.low && IsDrawable(*axis.low, axis.scale)) wanted.low = *axis.low;
  if (axis.high && IsDrawable(*axis.high, axis.scale)) wanted.high = *axis.high;
  const double size = std::max(std::abs(wanted.low), std::abs(wanted.high));
  if (wanted.high - wanted.low <= size * 1e-9) return false;
  if (axis.scale == ScaleKind::kLinear && wanted.high - wanted.low < 1e-100) return false;
  range = wanted;
  return true;
}

Range WithHeadroom(const Axis& axis, Range range, double headroom) {
  if (axis.scale == ScaleKind::kLog) {
    if (!axis.high) range.high = std::min(range.high * std::pow(range.high / range.low, headroom), 1e150);
    return range;
  }
  const double length = range.high - range.low;
  if (!axis.high && range.high > 0) range.high += length * headroom;
  if (!axis.low && range.low < 0) range.low -= length * headroom;
  return range;
}

int DecimalsOf(double step) {
  return std::clamp(static_cast<int>(-std::floor(std::log10(step) + 1e-9)), 0, 12);
}

double Magnitude(const Range& range) { return std::max(std::abs(range.low), std::abs(range.high)); }

// The number of parts for a length in pixels. Marks of logarithms have short labels and may be dense.
std::size_t PartsIn(const AxisFit& fit, ScaleKind kind) {
  const double each = kind == ScaleKind::kLog ? (fit.upright ? 26 : 34) : (fit.upright ? 36 : 70);
  return static_cast<std::size_t>(std::max(1.0, fit.length_px / each));
}

void AddUnit(FittedAxis& fitted, const std::string& unit) {
  if (!unit.empty()) fitted.label += fmt::format("{}({})", fitted.label.empty() ? "" : " ", unit);
}

void RoundOut(const Axis& axis, double step, double most, Range& range) {
  const double length = range.high - range.low;
  const double low = std::floor(range.low / step + 1e-9) * step;
  const double high = std::ceil(range.high / step - 1e-9) * step;
  if (!axis.low && range.low - low <= most * length) range.low = low;
  if (!axis.high && high - range.high <= most * length) range.high = high;
}

void MarkLinear(const Axis& axis, const AxisFit& fit, FittedAxis& fitted) {
  const double factor = fitted.shown.factor;
  Range range{fitted.range.low / factor, fitted.range.high / factor};
  const double step = NiceStep(range, PartsIn(fit, axis.scale));
  RoundOut(axis, step, fit.round_out, range);
  fitted.range = {range.low * factor, range.high * factor};
  // Numbers too small or too large for plain digits have an exponent.
  const bool exponents = step < 1e-6 || Magnitude(range) >= 1e15;
  for (const double mark : Multiples(range, step)) {
    if (!IsDrawable(mark * factor)) continue;
    std::string text = exponents ? FormatNumber(mark) : FormatFixed(mark, DecimalsOf(step));
    if (mark == 0) {
      text = "0";
    } else {
      text += fitted.shown.suffix;
    }
    fitted.ticks.push_back({mark * factor, std::move(text)});
  }
}

void MarkLog(const AxisFit& fit, FittedAxis& fitted) {
  LogMarks marks = MarksOfLog(fitted.range, PartsIn(fit, fitted.kind));
  for (const double mark : marks.major) {
    if (IsDrawable(mark, fitted.kind)) fitted.ticks.push_back({mark, fitted.ValueText(mark)});
  }
  fitted.minor = std::move(marks.minor);
  std::erase_if(fitted.minor, [&](double mark) { return !IsDrawable(mark, fitted.kind); });
}

void MarkAsTold(const Axis& axis, FittedAxis& fitted) {
  for (const double mark : axis.marks) {
    const bool inside = mark >= fitted.range.low && mark <= fitted.range.high;
    if (inside && IsDrawable(mark, axis.scale)) fitted.ticks.push_back({mark, fitted.ValueText(mark)});
  }
}

}  // namespace

double FittedAxis::LabelWidth() const {
  double width = 0;
  for (const Tick& tick : ticks) width = std::max(width, TextWidth(tick.text, kTickFont));
  return width;
}

std::string FittedAxis::ValueText(double value) const {
  return kind == ScaleKind::kLog ? FormatQuantity(value, mark_unit) : FormatIn(value, shown);
}

FittedAxis FitAxis(const Axis& axis, const Range& data, const AxisFit& fit) {
  FittedAxis fitted;
  fitted.kind = axis.scale;
  fitted.label = axis.label;
  const bool log = axis.scale == ScaleKind::kLog;
  fitted.range = log ? LogRange(data, fit) : LinearRange(data, fit);
  Axis told = axis;
  if (!Apply(axis, fitted.range)) told.low = told.high = std::nullopt;
  // Decades differ in their prefix. So a unit with prefixes stands at every mark, and any other beside the
  // label.
  const bool at_marks = UnitFor(1e-3, axis.unit).symbol != UnitFor(1e6, axis.unit).symbol || axis.unit == "%";
  if (log && at_marks) {
    fitted.mark_unit = axis.unit;
  } else {
    fitted.shown = UnitFor(log ? 1 : Magnitude(fitted.range), axis.unit);
    AddUnit(fitted, fitted.shown.symbol);
  }
  fitted.range = WithHeadroom(told, fitted.range, fit.headroom);
  if (!axis.marks.empty()) {
    MarkAsTold(axis, fitted);
  } else if (log) {
    MarkLog(fit, fitted);
  } else {
    MarkLinear(told, fit, fitted);
  }
  return fitted;
}

void DrawBottomAxis(Canvas& canvas, const FittedAxis& axis, const Box& box, bool grid) {
  const Scale scale = axis.Over(box.left, box.right);
  std::string marks;
  for (const Tick& tick : axis.ticks) {
    const double x = scale.At(tick.value);
    AppendPoint(marks, 'M', x, grid ? box.top : box.bottom);
    marks += 'V';
    AppendPixel(marks, box.bottom);
  }
  canvas.Path(marks, "g");
  std::string small;
  for (const double value : axis.minor) {
    AppendPoint(small, 'M', scale.At(value), box.bottom);
    small += "v3";
  }
  for (const Tick& tick : axis.ticks) {
    AppendPoint(small, 'M', scale.At(tick.value), box.bottom);
    small += "v5";
  }
  canvas.Path(small, "a");
  canvas.Line(box.left, box.bottom, box.right, box.bottom, "a");
  double free_from = 0;
  for (const Tick& tick : axis.ticks) {
    const double x = scale.At(tick.value);
    const double half = TextWidth(tick.text, kTickFont) / 2;
    if (x - half < free_from) continue;
    canvas.Text(x, box.bottom + 17, tick.text, "t m");
    free_from = x + half + 4;
  }
  if (axis.label.empty()) return;
  canvas.Text((box.left + box.right) / 2, box.bottom + 35, Clipped(axis.label, box.width(), 12), "m",
              axis.label);
}

void DrawLeftAxis(Canvas& canvas, const FittedAxis& axis, const Box& box) {
  const Scale scale = axis.Over(box.bottom, box.top);
  std::string lines;
  for (const Tick& tick : axis.ticks) {
    AppendPoint(lines, 'M', box.left, scale.At(tick.value));
    lines += 'H';
    AppendPixel(lines, box.right);
  }
  canvas.Path(lines, "g");
  std::string small;
  for (const double value : axis.minor) {
    AppendPoint(small, 'M', box.left, scale.At(value));
    small += "h3";
  }
  canvas.Path(small, "a");
  if (axis.kind == ScaleKind::kLog) canvas.Line(box.left, box.top, box.left, box.bottom, "a");
  for (const Tick& tick : axis.ticks) {
    canvas.Text(box.left - 7, scale.At(tick.value) + 4, Clipped(tick.text, kTickWidthMax, kTickFont), "t e");
  }
  if (axis.label.empty()) return;
  canvas.Text(16, box.top - 15, Clipped(axis.label, canvas.width() - 32, 12), "", axis.label);
}

double LeftAxisWidth(const FittedAxis& axis) { return 18 + std::min(axis.LabelWidth(), kTickWidthMax); }

}  // namespace leeway::chart
