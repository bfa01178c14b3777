// Legend: names with their marks, in lines above a picture.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chart/canvas.h"
#include "chart/palette.h"

namespace leeway::chart {

struct LegendEntry {
  std::string name;
  Colour colour = Colour::kBlue;
  bool paper = false;  // hatched
};

// Draws below `top`, over the width of the canvas; returns where it ends, which is `top` with no entries.
double DrawLegend(Canvas& canvas, const std::vector<LegendEntry>& entries, double top);

// A rectangle filled with colour; or an outline with hatching, for a paper's figures. REQUIRES: called within
// a class of colour.
void DrawSwatch(Canvas& canvas, const Box& box, bool paper, std::string_view tooltip = {});

}  // namespace leeway::chart
