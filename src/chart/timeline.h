// Timeline: the activities of each worker or server over time, as coloured spans in rows.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "chart/axis.h"
#include "chart/drawing.h"
#include "chart/palette.h"

namespace leeway::chart {

struct SpanKind {
  std::string name = {};
  Colour colour = Colour::kBlue;
  bool thin = false;  // waiting and the like: a narrow bar, so that work stands out
};

struct Span {
  std::size_t kind = 0;  // index into Timeline::kinds
  double begin = 0;
  double end = 0;
  std::string text = {};  // written into the span if it fits: its iteration
};

struct TimelineRow {
  std::string name = {};
  std::vector<Span> spans = {};  // in any order; where spans overlap, the last one is on top
  std::string note = {};         // at the end of the row: "41 steps, waits 12 %"
};

struct Timeline {
  std::string title = {};
  std::string note = {};
  std::vector<SpanKind> kinds = {};
  std::vector<TimelineRow> rows = {};
  // Always drawn linearly.
  Axis x = {.label = "time", .unit = "s"};
  int width = 800;
};

// With more rows than this the chart omits some evenly, and says so.
inline constexpr std::size_t kTimelineRowsMax = 64;

// compute, wait, push, pull: the kinds of most timelines, in this order.
std::vector<SpanKind> WorkerSpanKinds();

// Merges spans too narrow to see: every two pixels show the kind that took most of their time, with a lower
// bar if much of it was idle. Omits a span that is not finite, of an unknown kind, or that ends before it
// begins.
Drawing Draw(const Timeline& timeline);

}  // namespace leeway::chart
