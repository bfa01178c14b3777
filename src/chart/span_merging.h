// Span merging: the spans of one row of a timeline, in pixels; merges spans too small to see into visible
// ones.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "chart/scale.h"
#include "chart/timeline.h"

namespace leeway::chart {

struct PixelSpan {
  std::size_t kind = 0;
  double begin = 0;
  double end = 0;
  const Span* source = nullptr;  // null: merged from several
  int thirds = 3;                // how much of its time is taken by spans; 1 to 3
};

// In the order in which they are drawn. REQUIRES: left < right.
std::vector<PixelSpan> MergedSpans(std::span<const Span> spans, std::size_t kinds, const Scale& scale,
                                   double left, double right);

}  // namespace leeway::chart
