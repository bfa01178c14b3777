// LineChart: series of points over a common axis, with the spread over seeds as a band around each.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "chart/axis.h"
#include "chart/drawing.h"
#include "chart/palette.h"

namespace leeway::chart {

struct Point {
  double x = 0;
  double y = 0;  // NaN or infinite: a gap
  // The band at this point; none if either is NaN.
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
};

struct Series {
  std::string name = {};
  std::vector<Point> points = {};  // joined in this order
  // A paper's figures: dashed, with hollow markers; without a colour of their own they have the previous
  // series' colour.
  bool dashed = false;
  std::optional<Colour> colour = std::nullopt;  // else by its place among the series
};

struct ReferenceLine {
  enum class Across : std::uint8_t { kX, kY };  // which axis `at` is on
  Across axis = Across::kY;
  double at = 0;
  std::string name = {};
};

struct LineChart {
  std::string title = {};
  std::string note = {};  // a line below the title: what ran, what the band is
  Axis x = {};
  Axis y = {};
  std::vector<Series> series = {};
  std::vector<ReferenceLine> references = {};
  int width = 800;
  int height = 380;
};

// A series is drawn with at most this many points; more would be less than a pixel apart.
inline constexpr std::size_t kSeriesPointsMax = 400;

// The names stand at the right, each near the end of its line, so that they are in the order of the lines.
Drawing Draw(const LineChart& chart);

}  // namespace leeway::chart
