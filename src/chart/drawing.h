// Drawing: a finished picture, which every chart returns. SvgText makes it a file of its own; page.h makes it
// part of a page.
//
// A plain value. The same input gives the same bytes, so a picture in the repository changes only with its
// data.
#pragma once

#include <string>

namespace leeway::chart {

struct Drawing {
  int width = 0;      // pixels
  int height = 0;     // pixels
  std::string title;  // for readers who cannot see it; escaped when it is written
  std::string body;   // SVG elements in the classes of DrawingStyle; written as it is
};

// A whole SVG file: its own style sheet and its own background, for light pages and dark ones.
std::string SvgText(const Drawing& drawing);

// The <svg> element alone, for a page that holds DrawingStyle once.
std::string InlineSvg(const Drawing& drawing);
std::string DrawingStyle();

}  // namespace leeway::chart
