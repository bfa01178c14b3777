// Drawing: a finished picture. What the charts return; a file of its own (SvgText) or part of a page
// (page.h).
//
// A plain value. The same input gives the same bytes, so a picture in the repository changes only when what
// it shows does.
#pragma once

#include <string>

namespace leeway::chart {

struct Drawing {
  int width = 0;      // pixels
  int height = 0;     // pixels
  std::string title;  // for those who cannot see it; escaped when it is written
  std::string body;   // SVG elements in the classes of DrawingStyle; written as it is
};

// A whole SVG file: its own style sheet and its own background, for light pages and dark ones.
std::string SvgText(const Drawing& drawing);

// The <svg> element alone, for a page that holds DrawingStyle once.
std::string InlineSvg(const Drawing& drawing);
std::string DrawingStyle();

}  // namespace leeway::chart
