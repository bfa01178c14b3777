#include "chart/legend.h"

#include <algorithm>
#include <cmath>

#include "chart/text.h"

namespace leeway::chart {
namespace {

constexpr double kNameWidthMax = 220;
constexpr double kLineHeight = 18;
constexpr double kHatchStep = 5;

// Diagonals at equal distances within the box. (A <pattern> would need an id.)
std::string Hatching(const Box& box) {
  std::string path;
  const auto first = static_cast<int>(std::ceil((box.left + box.top) / kHatchStep));
  const auto last = static_cast<int>(std::floor((box.right + box.bottom) / kHatchStep));
  for (int i = first; i <= last; ++i) {
    const double sum = i * kHatchStep;
    const double left = std::max(box.left, sum - box.bottom);
    const double right = std::min(box.right, sum - box.top);
    if (right - left < 0.5) continue;
    AppendPoint(path, 'M', left, sum - left);
    AppendPoint(path, 'L', right, sum - right);
  }
  return path;
}

}  // namespace

double DrawLegend(Canvas& canvas, const std::vector<LegendEntry>& entries, double top) {
  if (entries.empty()) return top;
  double x = 16;
  double y = top;
  for (const LegendEntry& entry : entries) {
    const std::string name = Clipped(entry.name, kNameWidthMax, 12);
    const double width = 18 + TextWidth(name, 12) + 14;
    if (x > 16 && x + width > canvas.width() - 12) {
      x = 16;
      y += kLineHeight;
    }
    canvas.Open(ClassOf(entry.colour));
    DrawSwatch(canvas, {x, y + 3, x + 12, y + 14}, entry.paper);
    canvas.Close();
    canvas.Text(x + 18, y + 13, name, "", entry.name);
    x += width;
  }
  return y + kLineHeight + 4;
}

void DrawSwatch(Canvas& canvas, const Box& box, bool paper, std::string_view tooltip) {
  if (!paper) {
    canvas.Rect(box, "fl", tooltip);
    return;
  }
  canvas.Path(Hatching(box), "ha");
  canvas.Rect(box, "pa", tooltip);
}

}  // namespace leeway::chart
