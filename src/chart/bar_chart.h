// BarChart: values of a few series in named categories, side by side or stacked, with whiskers for the spread
// over seeds and, hatched beside ours, a paper's figures.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "chart/axis.h"
#include "chart/drawing.h"
#include "chart/palette.h"

namespace leeway::chart {

struct Bar {
  double value = std::numeric_limits<double>::quiet_NaN();  // NaN or infinite: no bar
  // Ends of the whisker; none if either is NaN.
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
};

struct BarSeries {
  std::string name = {};
  std::vector<Bar> bars = {};  // one per category; missing ones are no bars
  // A paper's figures: hatched; without a colour of their own they have the previous series' colour.
  bool paper = false;
  std::optional<Colour> colour = std::nullopt;
};

struct BarChart {
  std::string title = {};
  std::string note = {};
  std::vector<std::string> categories = {};
  Axis y = {};  // with a logarithmic scale, a bar of zero has no height, and says 0
  std::vector<BarSeries> series = {};
  // Stacks all series on one bar, and the paper's on a second one beside it. Meant for a linear scale.
  bool stacked = false;
  bool values = true;  // written above the bars where there is room
  int width = 800;
  int height = 360;
};

Drawing Draw(const BarChart& chart);

}  // namespace leeway::chart
