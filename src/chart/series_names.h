// The looks of the series of a line chart, and their names at its right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chart/canvas.h"
#include "chart/line_chart.h"

namespace leeway::chart {

struct SeriesLook {
  std::string classes;    // its colour
  std::string_view dash;  // empty: solid
  std::size_t marker = 0;
  bool hollow = false;  // the markers of a paper's figures
};
std::vector<SeriesLook> LooksOf(const std::vector<Series>& series);

// REQUIRES: within the class of the look.
void DrawMarker(Canvas& canvas, const SeriesLook& look, double x, double y);

struct NamePlace {
  const Series* series = nullptr;
  SeriesLook look;
  double y = 0;  // where it would like to stand
};
// Draws names at the right of the box, in the order of their places, as near to them as possible without
// overlap. A last line counts the names without room.
void DrawSeriesNames(Canvas& canvas, std::vector<NamePlace> places, const Box& box);
// 0 if no series has a name.
double SeriesNamesWidth(const std::vector<Series>& series);

}  // namespace leeway::chart
