#include "simulate/study_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "chart/bar_chart.h"
#include "chart/heat_map.h"
#include "chart/line_chart.h"
#include "chart/timeline.h"
#include "scenario/figures.h"
#include "scenario/keys.h"
#include "simulate/study_table.h"

namespace leeway::app {
namespace {

using scenario::Cell;
using scenario::CurvePoint;
using scenario::RunRecord;
using scenario::Study;

constexpr std::size_t kCellsWithMaps = 4;  // beyond, maps and timelines are of the first and the last

std::string SeedNote(const Study& study) {
  return study.seeds.size() < 2 ? fmt::format("seed {}", study.seeds[0])
                                : fmt::format("mean and range over {} seeds", study.seeds.size());
}

bool HasCurve(const Study& study, double CurvePoint::*what) {
  return std::ranges::any_of(study.cells, [what](const Cell& cell) {
    return std::ranges::any_of(scenario::RunsThatEndedWell(cell), [what](const RunRecord* record) {
      return record->curve.size() > 1 && std::isfinite(record->curve.front().*what);
    });
  });
}

// Point by point over the seeds. They judge at the same iterations unless rank 0 leaves some out to catch up;
// then the point shows the iteration of the first seed.
std::vector<chart::Point> CurveOf(const Cell& cell, double CurvePoint::*what, bool against_time) {
  std::vector<chart::Point> points;
  const std::vector<const RunRecord*> records = scenario::RunsThatEndedWell(cell);
  if (records.empty()) return points;
  std::size_t length = SIZE_MAX;
  for (const RunRecord* record : records) length = std::min(length, record->curve.size());
  for (std::size_t i = 0; i < length; ++i) {
    std::vector<double> values, times;
    for (const RunRecord* record : records) {
      values.push_back(record->curve[i].*what);
      times.push_back(record->curve[i].seconds);
    }
    const scenario::Spread spread = scenario::SpreadOf(values);
    const double x =
        against_time ? scenario::SpreadOf(times).mean : static_cast<double>(records[0]->curve[i].iteration);
    chart::Point point{.x = x, .y = spread.mean};
    if (records.size() > 1) {
      point.low = spread.low;
      point.high = spread.high;
    }
    points.push_back(point);
  }
  return points;
}

chart::Drawing DrawCurve(const Study& study, const std::string& name, bool against_time) {
  double CurvePoint::*const what = name == "loss" ? &CurvePoint::loss : &CurvePoint::accuracy;
  chart::LineChart chart;
  chart.title = fmt::format("{} against {}", name == "loss" ? "Loss" : "Accuracy",
                            against_time ? "simulated time" : "iterations");
  chart.note = SeedNote(study);
  chart.x.label = against_time ? "time" : "iteration of worker 0";
  if (against_time) chart.x.unit = "s";
  chart.y.label = name;
  for (const Cell& cell : study.cells) {
    chart.series.push_back({.name = cell.label, .points = CurveOf(cell, what, against_time)});
  }
  return chart::Draw(chart);
}

chart::Bar BarOf(const scenario::Spread& spread, std::size_t seeds) {
  chart::Bar bar{.value = spread.mean};
  if (seeds > 1) {
    bar.low = spread.low;
    bar.high = spread.high;
  }
  return bar;
}

// Counts over several powers of ten are read on a logarithmic scale.
bool IsWide(const chart::BarSeries& series) {
  double low = HUGE_VAL, high = 0;
  for (const chart::Bar& bar : series.bars) {
    if (!(bar.value > 0)) continue;
    low = std::min(low, bar.value);
    high = std::max(high, bar.value);
  }
  return high > 50 * low;
}

chart::Drawing DrawBars(const Study& study, const StudyWords& words, const std::string& name) {
  const scenario::Figure& figure = scenario::FigureNamed(name);
  chart::BarChart chart;
  chart.title = figure.title;
  chart.note = SeedNote(study);
  chart.y.label = figure.title;
  chart::BarSeries ours{.name = "Leeway"};
  for (const Cell& cell : study.cells) {
    chart.categories.push_back(cell.label);
    ours.bars.push_back(BarOf(SpreadOf(figure, cell.records), study.seeds.size()));
  }
  chart.series.push_back(ours);
  bool wide = name == "dprs_per_100" && IsWide(ours);
  if (const PaperFigure* const paper = PaperOf(words, name)) {
    chart::BarSeries theirs{.name = words.paper_name, .paper = true};
    for (const double value : paper->values) theirs.bars.push_back({.value = value});
    wide = wide || IsWide(theirs);
    chart.series.push_back(theirs);
  }
  if (wide) chart.y.scale = chart::ScaleKind::kLog;
  return chart::Draw(chart);
}

// Of the values of all sweeps but the last.
std::string LineNameOf(const Cell& cell) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i + 1 < cell.settings.size(); ++i) values.push_back(cell.settings[i].second);
  return fmt::format("{}", fmt::join(values, ", "));
}

// The last sweep is the axis, those before it make the lines.
chart::Drawing DrawLines(const Study& study, const StudyWords& words, const std::string& name) {
  const scenario::Figure& figure = scenario::FigureNamed(name);
  chart::LineChart chart;
  chart.title = figure.title;
  chart.note = SeedNote(study);
  chart.y.label = figure.title;
  const PaperFigure* const paper = PaperOf(words, name);
  std::vector<chart::Series> theirs;
  for (std::size_t i = 0; i < study.cells.size(); ++i) {
    const Cell& cell = study.cells[i];
    if (cell.settings.empty()) continue;
    std::string line = cell.settings.size() > 1 ? LineNameOf(cell) : study.base.name;
    if (!words.labels.empty() && cell.settings.size() > 1) line = words.labels[i];
    if (chart.series.empty() || chart.series.back().name != line) {
      chart.series.push_back({.name = line});
      if (paper != nullptr) theirs.push_back({.name = line + ", " + words.paper_name, .dashed = true});
    }
    const std::string& at = cell.settings.back().second;
    double x = static_cast<double>(i);
    std::from_chars(at.data(), at.data() + at.size(), x);
    chart.x.label = cell.settings.back().first;
    const scenario::Spread spread = SpreadOf(figure, cell.records);
    chart::Point point{.x = x, .y = spread.mean};
    if (study.seeds.size() > 1) {
      point.low = spread.low;
      point.high = spread.high;
    }
    chart.series.back().points.push_back(point);
    if (paper != nullptr && i < paper->values.size())
      theirs.back().points.push_back({.x = x, .y = paper->values[i]});
  }
  // Each of theirs after ours, whose colour it takes.
  std::vector<chart::Series> all;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    all.push_back(chart.series[i]);
    if (i < theirs.size()) all.push_back(theirs[i]);
  }
  chart.series = all;
  return chart::Draw(chart);
}

// The table says of how many runs there are some.
constexpr std::size_t kErrorsShown = 5;

// A density of times, over all seeds. The reader looks for rare times, so shares are on a logarithmic
// scale. A share of 0 is drawn as this.
constexpr double kLeastShare = 1e-5;

chart::Drawing DrawBins(const Study& study, std::vector<double> RunRecord::*bins, const std::string& title,
                        const std::string& time, const std::string& share) {
  chart::LineChart chart;
  chart.title = title;
  chart.note = SeedNote(study);
  chart.x = {.label = time, .unit = "s", .scale = chart::ScaleKind::kLog};
  chart.y = {.label = share, .scale = chart::ScaleKind::kLog};
  const auto shown = [](double value) { return std::max(value, kLeastShare); };
  for (const Cell& cell : study.cells) {
    chart::Series series{.name = cell.label};
    const std::vector<const RunRecord*> records = scenario::RunsThatEndedWell(cell);
    for (std::size_t bin = 0; bin < scenario::kTimeBins; ++bin) {
      std::vector<double> shares;
      for (const RunRecord* record : records) {
        if (bin < (record->*bins).size()) shares.push_back((record->*bins)[bin]);
      }
      const scenario::Spread spread = scenario::SpreadOf(shares);
      chart::Point point{.x = scenario::TimeBinMiddle(bin), .y = shown(spread.mean)};
      if (shares.size() > 1) {
        point.low = shown(spread.low);
        point.high = shown(spread.high);
      }
      series.points.push_back(point);
    }
    chart.series.push_back(std::move(series));
  }
  return chart::Draw(chart);
}

chart::Drawing DrawMap(const Cell& cell, const scenario::TimeMap& map, const std::string& title,
                       const std::string& what) {
  chart::HeatMap chart;
  chart.title = fmt::format("{}: {}", title, cell.label);
  for (std::uint32_t row = 0; row < map.rows; ++row) chart.rows.push_back(fmt::format("worker {}", row));
  chart.x = {.label = "time", .unit = "s"};
  chart.x_high = map.column_s * map.columns;
  chart.column_count = map.columns;
  chart.values = map.values;
  chart.value_label = what;
  chart.low = 0;
  return chart::Draw(chart);
}

chart::Drawing DrawTimeline(const Cell& cell, const RunRecord& record) {
  chart::Timeline chart;
  chart.title = fmt::format("What the workers do: {}", cell.label);
  chart.kinds = chart::WorkerSpanKinds();
  for (const scenario::IterationSpan& span : record.timeline) {
    const std::string name = fmt::format("worker {}", span.rank);
    if (chart.rows.empty() || chart.rows.back().name != name) chart.rows.push_back({.name = name});
    std::vector<chart::Span>& spans = chart.rows.back().spans;
    spans.push_back({.kind = 1, .begin = span.asked_s, .end = span.began_s});
    spans.push_back(
        {.kind = 0, .begin = span.began_s, .end = span.ended_s, .text = fmt::format("{}", span.iteration)});
  }
  return chart::Draw(chart);
}

void AddPlot(const std::string& plot, const Study& study, const StudyWords& words,
             std::vector<NamedDrawing>& plots) {
  const std::size_t colon = plot.find(':');
  const std::string kind = plot.substr(0, colon);
  const std::string what = colon == std::string::npos ? "" : plot.substr(colon + 1);
  if (kind == "curve") {
    plots.emplace_back(what + "_time", DrawCurve(study, what, true));
    plots.emplace_back(what + "_iterations", DrawCurve(study, what, false));
  } else if (kind == "bars") {
    plots.emplace_back(what, DrawBars(study, words, what));
  } else if (kind == "lines") {
    plots.emplace_back(what, DrawLines(study, words, what));
  } else if (kind == "waits") {
    plots.emplace_back(
        kind, DrawBins(study, &RunRecord::wait_bins, "Waits for parameters", "wait", "share of iterations"));
  } else if (kind == "answers") {
    plots.emplace_back(kind, DrawBins(study, &RunRecord::answer_bins, "Delays of answers",
                                      "from sending to delivery", "share of answers"));
  }
}

std::vector<std::string> UsualPlots(const Study& study) {
  std::vector<std::string> plots;
  if (HasCurve(study, &CurvePoint::accuracy)) plots.emplace_back("curve:accuracy");
  if (HasCurve(study, &CurvePoint::loss)) plots.emplace_back("curve:loss");
  if (study.cells.size() > 1) {
    for (const char* figure : {"seconds", "wait_s", "dprs_per_100"})
      plots.push_back(fmt::format("bars:{}", figure));
  }
  return plots;
}

std::vector<std::size_t> CellsWithMaps(const Study& study) {
  std::vector<std::size_t> cells;
  for (std::size_t i = 0; i < study.cells.size(); ++i) {
    const bool shown = study.cells.size() <= kCellsWithMaps || i == 0 || i + 1 == study.cells.size();
    if (shown) cells.push_back(i);
  }
  return cells;
}

}  // namespace

std::vector<NamedDrawing> PlotsOf(const Study& study, const StudyWords& words) {
  std::vector<NamedDrawing> plots;
  for (const std::string& plot : words.plots.empty() ? UsualPlots(study) : words.plots) {
    AddPlot(plot, study, words, plots);
  }
  return plots;
}

chart::Section SectionOf(const Study& study, const StudyWords& words) {
  chart::Section section;
  section.title = words.title.empty() ? study.base.name : words.title;
  for (const std::string& text : words.texts) section.pieces.push_back(chart::Paragraph{.text = text});
  const std::vector<std::string> errors = scenario::ErrorsOf(study);
  for (std::size_t i = 0; i < std::min(errors.size(), kErrorsShown); ++i) {
    section.pieces.push_back(chart::Paragraph{.text = errors[i], .tone = chart::Tone::kBad});
  }
  if (errors.size() > kErrorsShown) {
    section.pieces.push_back(chart::Paragraph{
        .text = fmt::format("... and {} more", errors.size() - kErrorsShown), .tone = chart::Tone::kBad});
  }
  section.pieces.push_back(TableOf(study, words));
  for (NamedDrawing& plot : PlotsOf(study, words)) {
    section.pieces.push_back(chart::Figure{.drawing = std::move(plot.second)});
  }
  if (words.plots.empty()) {
    for (const std::size_t i : CellsWithMaps(study)) {
      const Cell& cell = study.cells[i];
      const std::vector<const RunRecord*> records = scenario::RunsThatEndedWell(cell);
      if (records.empty()) continue;
      const RunRecord& record = *records[0];
      section.pieces.push_back(chart::Figure{
          .drawing = DrawMap(cell, record.lag, "Behind the fastest worker", "iterations behind")});
      section.pieces.push_back(chart::Figure{
          .drawing = DrawMap(cell, record.waits, "Share of the time that is waited", "share waited")});
      if (!record.timeline.empty())
        section.pieces.push_back(chart::Figure{.drawing = DrawTimeline(cell, record)});
    }
  }
  section.pieces.push_back(chart::Fold{.summary = "The scenario", .text = ToToml(study.base)});
  return section;
}

std::string ReportHtml(const Study& study, const StudyWords& words) {
  const scenario::Scenario& base = study.base;
  chart::Page page;
  page.title = words.title.empty() ? base.name : words.title;
  page.subtitle = fmt::format("{} workers, {} servers, {}, {}: simulated", base.job.workers, base.job.servers,
                              base.job.sync, base.problem);
  page.sections.push_back(SectionOf(study, words));
  page.sections.back().title = "Results";
  page.footer = "Made by leeway sim. The same scenario and seeds give the same page.";
  return chart::PageHtml(page);
}

}  // namespace leeway::app
