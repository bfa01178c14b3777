#include "simulate/worker_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "scenario/figures.h"
#include "simulate/page_number.h"
#include "simulate/rank_groups.h"

namespace leeway::app {
namespace {

using scenario::Cell;
using scenario::RunRecord;
using scenario::Study;
using Json = nlohmann::ordered_json;

constexpr std::uint32_t kBarsMax = 32;
constexpr std::uint32_t kMapRowsMax = 64;
constexpr std::uint32_t kTimelineRowsMax = 32;

// A bar for each group and cell: what `value_of` says of a run.
Json GroupBars(const Study& study, const std::vector<RankGroup>& groups, const char* what,
               const std::function<double(const RunRecord&, const RankGroup&)>& value_of) {
  Json names = Json::array(), series = Json::array();
  for (const RankGroup& group : groups) names.push_back(group.NameOf(what));
  for (const Cell& cell : study.cells) {
    Json bars = {{"name", cell.label}, {"values", Json::array()}};
    for (const RankGroup& group : groups) {
      std::vector<double> values;
      for (const RunRecord* record : scenario::RunsThatEndedWell(cell))
        values.push_back(value_of(*record, group));
      const scenario::Spread spread = scenario::SpreadOf(values);
      bars["values"].push_back(PageNumber(spread.mean));
      if (study.seeds.size() < 2) continue;
      bars["low"].push_back(PageNumber(spread.low));
      bars["high"].push_back(PageNumber(spread.high));
    }
    series.push_back(std::move(bars));
  }
  return {{"kind", "bars"}, {"categories", std::move(names)}, {"series", std::move(series)}};
}

// The mean of the values that are numbers, of each group of rows in each column.
std::vector<std::vector<double>> GroupedRows(const scenario::TimeMap& map,
                                             const std::vector<RankGroup>& groups) {
  std::vector<std::vector<double>> rows;
  for (const RankGroup& group : groups) {
    std::vector<double>& row = rows.emplace_back();
    for (std::uint32_t column = 0; column < map.columns; ++column) {
      std::vector<double> values;
      for (std::uint32_t rank = group.first; rank < group.end; ++rank)
        values.push_back(map.values[std::size_t{rank} * map.columns + column]);
      row.push_back(scenario::SpreadOf(values).mean);
    }
  }
  return rows;
}

struct MapKind {
  const scenario::TimeMap RunRecord::*map;
  const char* title;
  const char* unit;
  const char* short_unit;  // behind a number in a sentence
  double factor;           // from the record's values to the unit
  double least;            // a map that stays below it says nothing
  double scale;            // the end of the scale; 0: the highest value of all maps
};

Json MapChart(const Cell& cell, const scenario::TimeMap& map, const MapKind& kind) {
  const std::vector<RankGroup> groups = RankGroups(map.rows, kMapRowsMax);
  Json rows = Json::array(), columns = Json::array(), values = Json::array();
  for (const RankGroup& group : groups) rows.push_back(group.NameOf("worker"));
  for (std::uint32_t column = 0; column < map.columns; ++column)
    columns.push_back(fmt::format("{:.3g} s", column * map.column_s));
  for (const std::vector<double>& row : GroupedRows(map, groups)) {
    Json numbers = Json::array();
    for (const double value : row) numbers.push_back(PageNumber(std::round(value * kind.factor * 10) / 10));
    values.push_back(std::move(numbers));
  }
  return {{"kind", "map"},
          {"title", fmt::format("{}: {}", kind.title, cell.label)},
          {"unit", kind.unit},
          {"rows", std::move(rows)},
          {"columns", std::move(columns)},
          {"values", std::move(values)},
          {"none", cell.scenario.faults.plan.empty() ? "has finished" : "has finished, or is down"}};
}

// The highest value of the first run that ended well, in the kind's unit; below 0 if none did.
double MostOf(const Cell& cell, const MapKind& kind) {
  const std::vector<const RunRecord*> records = scenario::RunsThatEndedWell(cell);
  double most = -1;
  if (records.empty()) return most;
  for (const double value : (records[0]->*kind.map).values) {
    if (std::isfinite(value)) most = std::max(most, value * kind.factor);
  }
  return most;
}

StudyMaps MapsOf(const Study& study, const std::vector<std::size_t>& cells, const MapKind& kind) {
  StudyMaps maps;
  double highest = kind.scale;
  for (const std::size_t i : cells) highest = std::max(highest, MostOf(study.cells[i], kind));
  for (const std::size_t i : cells) {
    const Cell& cell = study.cells[i];
    const double most = MostOf(cell, kind);
    if (most < 0) continue;
    // On the common scale a map that stays below a tenth is nearly blank.
    if (most < std::max(kind.least, highest / 10)) {
      maps.blank.push_back(fmt::format("{} (at most {:.0f} {})", cell.label, most, kind.short_unit));
      continue;
    }
    maps.charts.push_back(MapChart(cell, scenario::RunsThatEndedWell(cell)[0]->*kind.map, kind));
    maps.charts.back()["max"] = PageNumber(std::round(highest));
  }
  return maps;
}

// Every k-th worker, so that a row stays high enough to see something.
Json TimelineRows(std::uint32_t workers, std::uint32_t step) {
  Json rows = Json::array();
  for (std::uint32_t rank = 0; rank < workers; rank += step) rows.push_back(fmt::format("worker {}", rank));
  return rows;
}

}  // namespace

Json WaitBars(const Study& study) {
  std::uint32_t workers = 0;
  for (const Cell& cell : study.cells) workers = std::max(workers, cell.scenario.job.workers);
  Json chart = GroupBars(study, RankGroups(workers, kBarsMax), "worker",
                         [](const RunRecord& record, const RankGroup& group) {
                           double waited = 0, all = 0;
                           const std::size_t end = std::min<std::size_t>(group.end, record.workers.size());
                           for (std::size_t rank = group.first; rank < end; ++rank) {
                             waited += record.workers[rank].wait_s;
                             all += record.workers[rank].wait_s + record.workers[rank].compute_s;
                           }
                           return all > 0 ? 100 * waited / all : NAN;
                         });
  chart["title"] = "How much of its time each worker waits for parameters";
  chart["y"] = {{"label", "waited"}, {"unit", "%"}};
  return chart;
}

Json ServerBars(const Study& study) {
  std::uint32_t servers = 0;
  for (const Cell& cell : study.cells) servers = std::max(servers, cell.scenario.job.servers);
  Json chart = GroupBars(
      study, RankGroups(servers, kBarsMax), "server", [](const RunRecord& record, const RankGroup& group) {
        std::vector<double> times;
        const std::size_t end = std::min<std::size_t>(group.end, record.server_message_s.size());
        for (std::size_t i = group.first; i < end; ++i) times.push_back(1e3 * record.server_message_s[i]);
        return scenario::SpreadOf(times).mean;
      });
  chart["title"] = "How long each server takes for a worker's message";
  chart["note"] = "From its sending until the server is done with it, on average: link, queue and work.";
  chart["y"] = {{"label", "time of a message"}, {"unit", "ms"}};
  return chart;
}

StudyMaps WaitMaps(const Study& study, const std::vector<std::size_t>& cells) {
  return MapsOf(study, cells,
                {.map = &RunRecord::waits,
                 .title = "Share of the time that is waited",
                 .unit = "%",
                 .short_unit = "%",
                 .factor = 100,
                 .least = 5,
                 .scale = 100});
}

StudyMaps LagMaps(const Study& study, const std::vector<std::size_t>& cells) {
  return MapsOf(study, cells,
                {.map = &RunRecord::lag,
                 .title = "Iterations behind the worker that is furthest",
                 .unit = "iterations",
                 .short_unit = "behind",
                 .factor = 1,
                 .least = 2,
                 .scale = 0});
}

std::optional<Json> TimelineChart(const Cell& cell) {
  const std::vector<const RunRecord*> records = scenario::RunsThatEndedWell(cell);
  if (records.empty()) return std::nullopt;
  const double from_s = cell.scenario.recording.timeline_from_s;
  const double to_s = from_s + cell.scenario.recording.timeline_s;
  const std::uint32_t workers = cell.scenario.job.workers;
  const std::uint32_t step = (workers + kTimelineRowsMax - 1) / kTimelineRowsMax;
  Json spans = Json::array();
  const auto add = [&](const scenario::IterationSpan& span, double begin_s, double end_s, int kind) {
    const double begin = std::max(begin_s, from_s), end = std::min(end_s, to_s);
    if (end > begin)
      spans.push_back({span.rank / step, PageNumber(begin), PageNumber(end), kind,
                       fmt::format("iteration {}", span.iteration)});
  };
  for (const scenario::IterationSpan& span : records[0]->timeline) {
    if (span.rank % step != 0) continue;
    add(span, span.began_s, span.ended_s, 0);
    add(span, span.asked_s, span.began_s, 1);
  }
  if (spans.empty()) return std::nullopt;
  Json chart = {
      {"kind", "timeline"},
      {"title", fmt::format("What the workers do from {:.4g} s to {:.4g} s: {}", from_s, to_s, cell.label)},
      {"rows", TimelineRows(workers, step)},
      {"kinds", {{{"name", "computes"}, {"color", "#3f7fb5"}}, {{"name", "waits"}, {"color", "#f0c4a8"}}}},
      {"spans", std::move(spans)},
      {"from_s", from_s},
      {"to_s", to_s}};
  if (step > 1) chart["note"] = fmt::format("One worker of {}.", step);
  return chart;
}

}  // namespace leeway::app
