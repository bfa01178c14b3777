#include "chart/bar_layout.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace leeway::chart {
namespace {

std::vector<Colour> ColoursOf(const std::vector<BarSeries>& series) {
  std::vector<Colour> colours;
  std::size_t next = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (series[i].colour) {
      colours.push_back(*series[i].colour);
    } else if (series[i].paper && i > 0) {
      colours.push_back(colours.back());
      continue;
    } else {
      colours.push_back(SeriesColour(next));
    }
    ++next;
  }
  return colours;
}

// The height stacked on one bar so far, upwards and downwards.
struct Stack {
  std::array<double, 2> height = {0, 0};
  std::array<std::size_t, 2> last = {SIZE_MAX, SIZE_MAX};  // the piece at that end
};

void AddToRange(BarLayout& layout, const BarPiece& piece, ScaleKind kind) {
  for (const double value : {piece.to, piece.low, piece.high}) {
    if (IsDrawable(value, kind)) layout.range.Add(value);
  }
}

}  // namespace

BarLayout LayOut(const BarChart& chart) {
  BarLayout layout;
  layout.colours = ColoursOf(chart.series);
  const bool has_paper = std::any_of(chart.series.begin(), chart.series.end(),
                                     [](const BarSeries& series) { return series.paper; });
  const bool has_own = std::any_of(chart.series.begin(), chart.series.end(),
                                   [](const BarSeries& series) { return !series.paper; });
  layout.slots = chart.stacked ? (has_paper && has_own ? 2 : 1) : chart.series.size();
  for (std::size_t category = 0; category < chart.categories.size(); ++category) {
    std::vector<Stack> stacks(layout.slots);
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
      const BarSeries& series = chart.series[i];
      if (category >= series.bars.size() || !IsDrawable(series.bars[category].value)) continue;
      const Bar& bar = series.bars[category];
      BarPiece piece{.category = category, .series = i, .slot = i, .value = bar.value};
      if (chart.stacked) piece.slot = series.paper && has_own ? 1 : 0;
      const std::size_t direction = bar.value < 0 ? 1 : 0;
      Stack& stack = stacks[piece.slot];
      piece.from = stack.height[direction];
      piece.to = piece.total = piece.from + bar.value;
      if (!std::isnan(bar.low) && !std::isnan(bar.high)) {
        piece.low = piece.from + bar.low;
        piece.high = piece.from + bar.high;
      }
      if (stack.last[direction] != SIZE_MAX) layout.pieces[stack.last[direction]].is_end = false;
      stack.last[direction] = layout.pieces.size();
      stack.height[direction] = piece.to;
      AddToRange(layout, piece, chart.y.scale);
      layout.pieces.push_back(piece);
    }
  }
  return layout;
}

}  // namespace leeway::chart
