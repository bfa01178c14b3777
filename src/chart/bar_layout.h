// BarLayout: the rectangles of a bar chart in values, before any measure in pixels.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "chart/bar_chart.h"
#include "chart/scale.h"

namespace leeway::chart {

struct BarPiece {
  std::size_t category = 0;
  std::size_t series = 0;
  std::size_t slot = 0;  // its place among the bars of the category
  double from = 0;
  double to = 0;
  double value = 0;    // its own
  double total = 0;    // of the stack up to here
  bool is_end = true;  // nothing is stacked on it in its direction
  // The whisker, moved with the stack; NaN: no whisker.
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
};

struct BarLayout {
  std::vector<BarPiece> pieces;
  std::vector<Colour> colours;  // one per series
  std::size_t slots = 0;        // bars beside each other in a category
  Range range;                  // of everything drawn
};

BarLayout LayOut(const BarChart& chart);

}  // namespace leeway::chart
