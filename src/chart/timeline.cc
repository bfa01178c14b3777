#include "chart/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "chart/legend.h"
#include "chart/quantity.h"
#include "chart/span_merging.h"
#include "chart/text.h"

namespace leeway::chart {
namespace {

constexpr double kNameMax = 130;
constexpr double kRowNoteMax = 170;
constexpr std::size_t kToldSpansMax = 1'000;  // a tooltip for each of so many spans, else one for each row

// The rows that are drawn: all, or evenly chosen ones.
std::vector<const TimelineRow*> RowsShown(const Timeline& timeline) {
  std::vector<const TimelineRow*> rows;
  const std::size_t count = std::min(timeline.rows.size(), kTimelineRowsMax);
  for (std::size_t i = 0; i < count; ++i) {
    rows.push_back(&timeline.rows[count == 1 ? 0 : i * (timeline.rows.size() - 1) / (count - 1)]);
  }
  return rows;
}

std::string NoteOf(const Timeline& timeline) {
  if (timeline.rows.size() <= kTimelineRowsMax) return timeline.note;
  return fmt::format("{}{}{} of {} rows", timeline.note, timeline.note.empty() ? "" : "; ", kTimelineRowsMax,
                     timeline.rows.size());
}

Range TimesOf(const Timeline& timeline) {
  Range range;
  for (const TimelineRow& row : timeline.rows) {
    for (const Span& span : row.spans) {
      if (!IsDrawable(span.begin) || !IsDrawable(span.end) || span.begin > span.end) continue;
      range.Add(span.begin);
      range.Add(span.end);
    }
  }
  return range;
}

// Where the bars of a row are.
struct Lane {
  double middle = 0;
  double height = 0;

  [[nodiscard]] double HeightOf(const SpanKind& kind, int thirds) const {
    return std::max(1.5, height * (kind.thin ? 0.36 : 1) * thirds / 3);
  }
};

std::string RowTooltip(const Timeline& timeline, const TimelineRow& row) {
  std::vector<double> lengths(timeline.kinds.size());
  double sum = 0;
  for (const Span& span : row.spans) {
    if (span.kind >= lengths.size() || !IsDrawable(span.begin) || !IsDrawable(span.end) ||
        span.begin > span.end)
      continue;
    lengths[span.kind] += span.end - span.begin;
    sum += span.end - span.begin;
  }
  std::string text = ClippedTo(row.name, 80);
  for (std::size_t kind = 0; kind < lengths.size() && sum > 0; ++kind) {
    text += fmt::format("\n{}: {} ({})", ClippedTo(timeline.kinds[kind].name, 40),
                        FormatQuantity(lengths[kind], timeline.x.unit),
                        FormatQuantity(lengths[kind] / sum, "%", 2));
  }
  return text;
}

// One element each, with its tooltip.
void DrawToldSpans(Canvas& canvas, const Timeline& timeline, const TimelineRow& row,
                   const std::vector<PixelSpan>& spans, const Lane& lane) {
  for (const PixelSpan& span : spans) {
    const SpanKind& kind = timeline.kinds[span.kind];
    const double height = lane.HeightOf(kind, span.thirds);
    std::string tooltip = fmt::format("{}: {}", ClippedTo(row.name, 80), ClippedTo(kind.name, 40));
    if (span.source != nullptr) {
      tooltip += fmt::format(" {}{}{}, from {}", ClippedTo(span.source->text, 40),
                             span.source->text.empty() ? "" : ", ",
                             FormatQuantity(span.source->end - span.source->begin, timeline.x.unit),
                             FormatQuantity(span.source->begin, timeline.x.unit, 4));
    }
    // A thin gap between neighbours, so that two steps do not look like one.
    const double gap = span.end - span.begin > 3 ? 0.6 : 0;
    canvas.Open(ClassOf(kind.colour));
    canvas.Rect({span.begin, lane.middle - height / 2, span.end - gap, lane.middle + height / 2}, "fl",
                tooltip);
    canvas.Close();
  }
}

// One path for the spans of a kind and a height, of strokes as wide as that.
void DrawManySpans(Canvas& canvas, const Timeline& timeline, const std::vector<PixelSpan>& spans,
                   const Lane& lane) {
  std::vector<std::array<std::string, 3>> paths(timeline.kinds.size());
  for (const PixelSpan& span : spans) {
    std::string& path = paths[span.kind][static_cast<std::size_t>(span.thirds - 1)];
    AppendPoint(path, 'M', span.begin, lane.middle);
    path += 'h';
    const double gap = span.source != nullptr && span.end - span.begin > 3 ? 0.6 : 0;
    AppendPixel(path, span.end - span.begin - gap);
  }
  for (std::size_t kind = 0; kind < paths.size(); ++kind) {
    for (int thirds = 1; thirds <= 3; ++thirds) {
      std::string width = "stroke-width=\"";
      AppendPixel(width, lane.HeightOf(timeline.kinds[kind], thirds));
      canvas.Path(paths[kind][static_cast<std::size_t>(thirds - 1)],
                  "st " + ClassOf(timeline.kinds[kind].colour), width + "\"");
    }
  }
}

void DrawTexts(Canvas& canvas, const Timeline& timeline, const std::vector<PixelSpan>& spans,
               const Lane& lane) {
  if (lane.height < 11) return;
  for (const PixelSpan& span : spans) {
    if (span.source == nullptr || span.source->text.empty() || timeline.kinds[span.kind].thin) continue;
    if (TextWidth(span.source->text, 10) > span.end - span.begin - 4) continue;
    canvas.Text((span.begin + span.end) / 2, lane.middle + 3.6, span.source->text, "in");
  }
}

double WidthOfNames(const std::vector<const TimelineRow*>& rows, std::string TimelineRow::*which,
                    double most) {
  double width = 0;
  for (const TimelineRow* row : rows) width = std::max(width, TextWidth(Clipped(row->*which, most, 12), 12));
  return width;
}

}  // namespace

std::vector<SpanKind> WorkerSpanKinds() {
  return {{"compute", Colour::kBlue},
          {"wait", Colour::kGrey, true},
          {"push", Colour::kOrange},
          {"pull", Colour::kGreen}};
}

Drawing Draw(const Timeline& timeline) {
  Canvas canvas(timeline.width, 0);
  double top = canvas.Heading(timeline.title, NoteOf(timeline));
  std::vector<LegendEntry> entries;
  for (const SpanKind& kind : timeline.kinds) entries.push_back({kind.name, kind.colour, false});
  top = DrawLegend(canvas, entries, top);

  const std::vector<const TimelineRow*> rows = RowsShown(timeline);
  const double row_height =
      std::clamp(360 / static_cast<double>(std::max<std::size_t>(rows.size(), 1)), 7.0, 24.0);
  const double note_max = std::min(kRowNoteMax, timeline.width * 0.22);
  const double notes = WidthOfNames(rows, &TimelineRow::note, note_max);
  Box box{std::ceil(24 + WidthOfNames(rows, &TimelineRow::name, kNameMax)), top + 4,
          timeline.width - 24 - notes, 0};
  box.right = std::max(box.right, box.left + 60);
  box.bottom = box.top + std::max(row_height * static_cast<double>(rows.size()), 20.0) + 4;
  canvas.SetHeight(static_cast<int>(std::ceil(box.bottom + kBottomAxisHeight)));
  Axis time = timeline.x;
  time.scale = ScaleKind::kLinear;
  const FittedAxis axis = FitAxis(time, TimesOf(timeline), {.length_px = box.width(), .round_out = 0.02});
  DrawBottomAxis(canvas, axis, box, true);

  const Scale scale = axis.Over(box.left, box.right);
  std::vector<std::vector<PixelSpan>> spans;
  std::size_t count = 0;
  for (const TimelineRow* row : rows) {
    spans.push_back(MergedSpans(row->spans, timeline.kinds.size(), scale, box.left, box.right));
    count += spans.back().size();
  }
  const auto names_every = static_cast<std::size_t>(std::max(1.0, std::ceil(13 / row_height)));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Lane lane{std::round(box.top + row_height * (static_cast<double>(i) + 0.5)), row_height * 0.72};
    if (count <= kToldSpansMax) {
      DrawToldSpans(canvas, timeline, *rows[i], spans[i], lane);
    } else {
      DrawManySpans(canvas, timeline, spans[i], lane);
      canvas.Rect({box.left, lane.middle - row_height / 2, box.right, lane.middle + row_height / 2}, "hit",
                  RowTooltip(timeline, *rows[i]));
    }
    DrawTexts(canvas, timeline, spans[i], lane);
    if (i % names_every != 0) continue;
    canvas.Text(box.left - 8, lane.middle + 4, Clipped(rows[i]->name, kNameMax, 12), "e",
                RowTooltip(timeline, *rows[i]));
    canvas.Text(box.right + 8, lane.middle + 4, Clipped(rows[i]->note, note_max, 12), "n", rows[i]->note);
  }
  return std::move(canvas).Finish(timeline.title);
}

}  // namespace leeway::chart
