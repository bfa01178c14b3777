#include "chart/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "chart/quantity.h"
#include "chart/series_names.h"
#include "chart/text.h"
#include "chart/thinning.h"

namespace leeway::chart {
namespace {

constexpr std::size_t kMarkedPointsMax = 30;  // a series with more has no room for a marker at every point
constexpr std::size_t kMarkersOnLongLine = 7;
constexpr std::size_t kHoverPointsMax = 16;
constexpr std::size_t kBandPointsMax = 200;

// A series as it is drawn.
struct Stroke {
  const Series* series = nullptr;
  SeriesLook look;
  std::vector<PixelPoint> points;
  std::vector<std::size_t> kept;

  [[nodiscard]] bool IsGap(std::size_t index) const {
    return std::isnan(points[index].x) || std::isnan(points[index].y);
  }
};

struct Ranges {
  Range x;
  Range y;
};

Ranges RangesOf(const LineChart& chart) {
  Ranges ranges;
  for (const Series& series : chart.series) {
    for (const Point& point : series.points) {
      if (!IsDrawable(point.x, chart.x.scale)) continue;
      for (const double y : {point.y, point.low, point.high}) {
        if (!IsDrawable(y, chart.y.scale)) continue;
        ranges.x.Add(point.x);
        ranges.y.Add(y);
      }
    }
  }
  for (const ReferenceLine& line : chart.references) {
    const bool on_x = line.axis == ReferenceLine::Across::kX;
    if (IsDrawable(line.at, on_x ? chart.x.scale : chart.y.scale)) (on_x ? ranges.x : ranges.y).Add(line.at);
  }
  return ranges;
}

std::vector<Stroke> StrokesOf(const LineChart& chart, const Scale& x, const Scale& y) {
  std::vector<Stroke> strokes;
  const std::vector<SeriesLook> looks = LooksOf(chart.series);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    Stroke stroke;
    stroke.series = &chart.series[i];
    stroke.look = looks[i];
    stroke.points.reserve(stroke.series->points.size());
    for (const Point& point : stroke.series->points) {
      stroke.points.push_back({x.At(point.x), y.At(point.y), y.At(point.low), y.At(point.high)});
    }
    stroke.kept = Thinned(stroke.points, kSeriesPointsMax);
    strokes.push_back(std::move(stroke));
  }
  return strokes;
}

// One outline per run of points that have a band.
std::string BandPath(std::span<const PixelPoint> band) {
  std::string path;
  for (std::size_t begin = 0; begin < band.size();) {
    std::size_t end = begin;
    while (end < band.size() && !std::isnan(band[end].x)) ++end;
    if (end - begin > 1) {
      for (std::size_t i = begin; i < end; ++i)
        AppendPoint(path, i == begin ? 'M' : 'L', band[i].x, band[i].high);
      for (std::size_t i = end; i > begin; --i) AppendPoint(path, 'L', band[i - 1].x, band[i - 1].low);
      path += 'Z';
    } else if (end - begin == 1) {  // a single point: its band is a stroke as wide as a line
      AppendPoint(path, 'M', band[begin].x - 1, band[begin].low);
      AppendPoint(path, 'L', band[begin].x - 1, band[begin].high);
      AppendPoint(path, 'L', band[begin].x + 1, band[begin].high);
      AppendPoint(path, 'L', band[begin].x + 1, band[begin].low);
      path += 'Z';
    }
    begin = end + 1;
  }
  return path;
}

std::string LinePath(const Stroke& stroke) {
  std::string path;
  bool joined = false;
  for (const std::size_t i : stroke.kept) {
    if (stroke.IsGap(i)) {
      joined = false;
      continue;
    }
    AppendPoint(path, joined ? 'L' : 'M', stroke.points[i].x, stroke.points[i].y);
    joined = true;
  }
  return path;
}

// Marks every point of a short series. Of a long one it marks a few, at other places than its neighbours'
// marks, and those with a gap on both sides, which a line alone would not show.
std::vector<std::size_t> MarkedPoints(const Stroke& stroke) {
  const std::vector<std::size_t>& kept = stroke.kept;
  const bool all = stroke.points.size() <= kMarkedPointsMax;
  const std::size_t every = std::max<std::size_t>(kept.size() / kMarkersOnLongLine, 1);
  const std::size_t first = every * (stroke.look.marker % 6 + 1) / 7;
  std::vector<std::size_t> marked;
  for (std::size_t at = 0; at < kept.size(); ++at) {
    if (stroke.IsGap(kept[at])) continue;
    const bool begins = at == 0 || stroke.IsGap(kept[at - 1]);
    const bool ends = at + 1 == kept.size() || stroke.IsGap(kept[at + 1]);
    if (all || (begins && ends) || at % every == first) marked.push_back(kept[at]);
  }
  return marked;
}

std::string TooltipOf(const LineChart& chart, const Series& series, const Point& point) {
  std::string text =
      fmt::format("{}\n{}: {}\n{}: {}", ClippedTo(series.name, 80),
                  chart.x.label.empty() ? "x" : chart.x.label, FormatQuantity(point.x, chart.x.unit, 4),
                  chart.y.label.empty() ? "y" : chart.y.label, FormatQuantity(point.y, chart.y.unit, 4));
  if (!std::isnan(point.low) && !std::isnan(point.high)) {
    text += fmt::format(" ({} to {})", FormatQuantity(point.low, chart.y.unit, 4),
                        FormatQuantity(point.high, chart.y.unit, 4));
  }
  return text;
}

void DrawHoverPoints(Canvas& canvas, const LineChart& chart, const Stroke& stroke, const Box& box) {
  std::vector<std::size_t> shown;
  for (const std::size_t i : stroke.kept) {
    const PixelPoint& point = stroke.points[i];
    if (!stroke.IsGap(i) && point.x >= box.left && point.x <= box.right) shown.push_back(i);
  }
  const std::size_t count = std::min(
      shown.size(), stroke.series->points.size() <= kMarkedPointsMax ? kMarkedPointsMax : kHoverPointsMax);
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t i = shown[count == 1 ? 0 : n * (shown.size() - 1) / (count - 1)];
    canvas.Circle(stroke.points[i].x, stroke.points[i].y, 7, "hit",
                  TooltipOf(chart, *stroke.series, stroke.series->points[i]));
  }
}

void DrawStroke(Canvas& canvas, const Stroke& stroke) {
  std::string attributes;
  if (!stroke.look.dash.empty()) attributes = fmt::format("stroke-dasharray=\"{}\"", stroke.look.dash);
  canvas.Path(LinePath(stroke), "ln", attributes, stroke.series->name);
  for (const std::size_t i : MarkedPoints(stroke))
    DrawMarker(canvas, stroke.look, stroke.points[i].x, stroke.points[i].y);
}

// Measures how much of the lines runs through a box, in points a few pixels apart.
double CrowdIn(const std::vector<Stroke>& strokes, const Box& box) {
  double crowd = 0;
  for (const Stroke& stroke : strokes) {
    for (std::size_t at = 1; at < stroke.kept.size(); ++at) {
      if (stroke.IsGap(stroke.kept[at - 1]) || stroke.IsGap(stroke.kept[at])) continue;
      const PixelPoint& a = stroke.points[stroke.kept[at - 1]];
      const PixelPoint& b = stroke.points[stroke.kept[at]];
      const int steps = static_cast<int>(std::clamp(std::hypot(b.x - a.x, b.y - a.y) / 4, 1.0, 200.0));
      for (int i = 0; i < steps; ++i) {
        const double x = a.x + (b.x - a.x) * i / steps;
        const double y = a.y + (b.y - a.y) * i / steps;
        if (x >= box.left && x <= box.right && y >= box.top && y <= box.bottom) ++crowd;
      }
    }
  }
  return crowd;
}

// The name of a reference line has four possible places, at either end and on either side: takes the one that
// the fewest lines cross.
void NameReference(Canvas& canvas, const std::vector<Stroke>& strokes, const ReferenceLine& line, double at,
                   const Box& box) {
  const std::string name = Clipped(line.name, box.width() / 2, 11);
  const double width = TextWidth(name, 11);
  const bool on_x = line.axis == ReferenceLine::Across::kX;
  const double left = on_x ? at - 5 - width : box.left + 5;
  const double right = on_x ? at + 5 : box.right - 4 - width;
  const double upper = on_x ? box.top + 2 : at - 17;
  const double lower = on_x ? box.bottom - 18 : at + 2;
  Box best;
  double least = 1e9;
  for (const double x : {right, left}) {
    for (const double y : {upper, lower}) {
      const Box place{x, y, x + width, y + 15};
      if (place.left < box.left || place.right > box.right || place.top < box.top - 6 ||
          place.bottom > box.bottom)
        continue;
      const double crowd = CrowdIn(strokes, place);
      if (crowd >= least) continue;
      least = crowd;
      best = place;
    }
  }
  if (least < 1e9) canvas.Text(best.left, best.bottom - 3, name, "t halo", line.name);
}

void DrawReferences(Canvas& canvas, const LineChart& chart, const std::vector<Stroke>& strokes,
                    const Scale& x, const Scale& y, const Box& box) {
  for (const ReferenceLine& line : chart.references) {
    const bool on_x = line.axis == ReferenceLine::Across::kX;
    const double at = (on_x ? x : y).At(line.at);
    if (std::isnan(at)) continue;
    if (on_x ? at < box.left - 1 || at > box.right + 1 : at < box.top - 1 || at > box.bottom + 1) continue;
    on_x ? canvas.Line(at, box.top, at, box.bottom, "r") : canvas.Line(box.left, at, box.right, at, "r");
    NameReference(canvas, strokes, line, at, box);
  }
}

}  // namespace

Drawing Draw(const LineChart& chart) {
  Canvas canvas(chart.width, chart.height);
  const double below_heading = canvas.Heading(chart.title, chart.note);
  const double names_width = SeriesNamesWidth(chart.series);
  Box box;
  box.top = below_heading + (chart.y.label.empty() && chart.y.unit.empty() ? 8 : kLeftLabelHeight);
  box.bottom = std::max(box.top + 40, chart.height - kBottomAxisHeight);
  box.right = chart.width - std::max(24.0, names_width + 12);

  const Ranges ranges = RangesOf(chart);
  const FittedAxis y_axis =
      FitAxis(chart.y, ranges.y, {.length_px = box.height(), .upright = true, .round_out = 0.13});
  box.left = LeftAxisWidth(y_axis);
  box.right = std::max(box.right, box.left + 60);
  const FittedAxis x_axis = FitAxis(chart.x, ranges.x, {.length_px = box.width(), .round_out = 0.03});
  const Scale x = x_axis.Over(box.left, box.right);
  const Scale y = y_axis.Over(box.bottom, box.top);

  DrawLeftAxis(canvas, y_axis, box);
  DrawBottomAxis(canvas, x_axis, box, false);
  const std::vector<Stroke> strokes = StrokesOf(chart, x, y);
  canvas.OpenClip({box.left - 4, box.top - 4, box.right + 4, box.bottom + 4});
  for (const Stroke& stroke : strokes) {
    canvas.Open(stroke.look.classes);
    canvas.Path(BandPath(ThinnedBand(stroke.points, kBandPointsMax)), "bd");
    canvas.Close();
  }
  for (const Stroke& stroke : strokes) {
    canvas.Open(stroke.look.classes);
    DrawStroke(canvas, stroke);
    canvas.Close();
  }
  for (const Stroke& stroke : strokes) {
    canvas.Open(stroke.look.classes);
    DrawHoverPoints(canvas, chart, stroke, box);
    canvas.Close();
  }
  DrawReferences(canvas, chart, strokes, x, y, box);
  canvas.CloseClip();

  std::vector<NamePlace> places;
  for (const Stroke& stroke : strokes) {
    double at = box.bottom;
    for (const std::size_t i : stroke.kept) {
      if (!stroke.IsGap(i)) at = stroke.points[i].y;
    }
    places.push_back({stroke.series, stroke.look, at});
  }
  DrawSeriesNames(canvas, std::move(places), box);
  return std::move(canvas).Finish(chart.title);
}

}  // namespace leeway::chart
