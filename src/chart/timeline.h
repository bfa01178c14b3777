// Timeline: what each worker or server did when, as coloured spans in rows.
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
  // Linear, whatever it says.
  Axis x = {.label = "time", .unit = "s"};
  int width = 800;
};

// More rows than this are left out evenly, and the picture says so.
inline constexpr std::size_t kTimelineRowsMax = 64;

// compute, wait, push, pull: the kinds that most timelines have, in this order.
std::vector<SpanKind> WorkerSpanKinds();

// Spans too narrow to be seen are merged: every two pixels show what took most of their time, lower if much
// of it was nothing. A span that is not finite, of an unknown kind, or that ends before it begins is left
// out.
Drawing Draw(const Timeline& timeline);

}  // namespace leeway::chart
