#include "chart/drawing.h"

#include <fmt/format.h>

#include "chart/palette.h"
#include "chart/text.h"

namespace leeway::chart {
namespace {

// All rules are below .lw, because a page has other classes. No custom properties: viewers other than
// browsers do not know them. The classes:
//   texts:  h title, n note, t label of a mark, v value, in text in a span, much text in a dark cell, halo
//   text above lines,
//           m and e where it is anchored
//   places: bg background, no without a value, g grid, a axis, r reference line
//   shapes: ln line, st stroke, fl filled, hollow marker, bd band, pa outline of a paper's bar, ha its
//   hatching, w whisker,
//           hit element that shows up under the pointer
constexpr std::string_view kShapes = R"css(
.lw{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","DejaVu Sans",Arial,sans-serif;font-size:12px}
.lw text{white-space:pre}
.lw .h{font-size:15px;font-weight:600}
.lw .t,.lw .v{font-size:11px;font-variant-numeric:tabular-nums}
.lw .in{font-size:10px;text-anchor:middle}
.lw .e{text-anchor:end}
.lw .m{text-anchor:middle}
.lw .g,.lw .a{stroke-width:1;fill:none;shape-rendering:crispEdges}
.lw .r{stroke-width:1;stroke-dasharray:3 3;fill:none}
.lw .ln{fill:none;stroke:currentColor;stroke-width:1.8;stroke-linejoin:round}
.lw .fl{fill:currentColor}
.lw .bd{fill:currentColor;fill-opacity:.15}
.lw .st{stroke:currentColor;fill:none}
.lw .pa{fill:currentColor;fill-opacity:.1;stroke:currentColor;stroke-width:1.2}
.lw .ha{fill:none;stroke:currentColor;stroke-width:1;stroke-opacity:.75}
.lw .w{fill:none;stroke-width:1.2}
.lw .halo{paint-order:stroke;stroke-width:3px;stroke-linejoin:round}
.lw .hit{fill:currentColor;fill-opacity:0}
.lw .hit:hover{fill-opacity:.35}
)css";

constexpr std::string_view kLight =
    R"css(.lw .bg,.lw .hollow{fill:#fff}.lw .no{fill:#d3d8de}.lw .halo{stroke:#fff}
.lw text{fill:#333e4a}.lw .h{fill:#17202b}.lw .n,.lw .t{fill:#5d6874}.lw .in,.lw .much{fill:#fff}
.lw .g{stroke:#e5e9ed}.lw .a{stroke:#8a95a1}.lw .r{stroke:#5d6874}.lw .w{stroke:#17202b}
)css";
constexpr std::string_view kDark = R"css(
.lw .bg,.lw .hollow{fill:#171e26}.lw .no{fill:#414b57}.lw .halo{stroke:#171e26}
.lw text{fill:#ccd5de}.lw .h{fill:#eef2f6}.lw .n,.lw .t{fill:#98a4b1}.lw .in,.lw .much{fill:#10161c}
.lw .g{stroke:#2a343f}.lw .a{stroke:#6a7683}.lw .r{stroke:#98a4b1}.lw .w{stroke:#eef2f6}
)css";

std::string Element(const Drawing& drawing, std::string_view style) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"lw\" role=\"img\" aria-label=\"{}\" width=\"{}\" "
      "height=\"{}\" "
      "viewBox=\"0 0 {} {}\">{}<rect class=\"bg\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n{}</svg>\n",
      Escaped(ClippedTo(drawing.title, 200)), drawing.width, drawing.height, drawing.width, drawing.height,
      style, drawing.width, drawing.height, drawing.body);
}

}  // namespace

std::string DrawingStyle() {
  return fmt::format("{}{}{}\n@media (prefers-color-scheme:dark){{{}{}}}\n", kShapes, kLight,
                     PaletteRules(".lw", false), kDark, PaletteRules(".lw", true));
}

std::string SvgText(const Drawing& drawing) {
  return Element(drawing, fmt::format("<style>{}</style>", DrawingStyle()));
}

std::string InlineSvg(const Drawing& drawing) { return Element(drawing, ""); }

}  // namespace leeway::chart
