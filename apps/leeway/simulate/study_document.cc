#include "simulate/study_document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "simulate/common_level.h"
#include "simulate/study_charts.h"
#include "simulate/study_description.h"
#include "simulate/study_table.h"
#include "simulate/study_verdict.h"
#include "simulate/worker_charts.h"

namespace leeway::app {
namespace {

using scenario::Cell;
using scenario::Study;
using Json = nlohmann::ordered_json;

constexpr std::size_t kCellsWithMaps = 4;  // beyond, maps and timelines are of the first and the last
constexpr std::size_t kErrorsShown = 5;    // the table says of how many runs there are some

Json Section(const std::string& title, const std::string& note, Json charts, bool folded = false) {
  return {{"title", title}, {"note", note}, {"folded", folded}, {"charts", std::move(charts)}};
}

Json TableChart(const Study& study, const StudyWords& words) {
  const StudyTable table = TableOf(study, words);
  Json columns = Json::array();
  for (const std::string& name : table.columns) columns.push_back({{"name", name}});
  return {{"kind", "table"}, {"note", table.note}, {"columns", std::move(columns)}, {"rows", table.rows}};
}

Json ErrorsShown(const Study& study) {
  std::vector<std::string> errors = scenario::ErrorsOf(study);
  const std::size_t all = errors.size();
  if (all > kErrorsShown) {
    errors.resize(kErrorsShown);
    errors.push_back(fmt::format("... and {} more", all - kErrorsShown));
  }
  return errors;
}

std::vector<std::size_t> CellsWithMaps(const Study& study) {
  std::vector<std::size_t> cells;
  for (std::size_t i = 0; i < study.cells.size(); ++i) {
    const bool shown = study.cells.size() <= kCellsWithMaps || i == 0 || i + 1 == study.cells.size();
    if (shown) cells.push_back(i);
  }
  return cells;
}

Json Speed(const Study& study, const StudyWords& words, const std::optional<CommonLevel>& level) {
  Json charts = Json::array();
  const std::string what = level ? level->what : HasCurve(study, "accuracy") ? "accuracy" : "loss";
  if (HasCurve(study, what))
    charts.push_back(CurveChart(study, what, Against::kTime, level ? &*level : nullptr));
  if (study.cells.size() > 1) {
    if (level) charts.push_back(LevelBars(study, *level));
    Json ends = FigureBars(study, words, "seconds");
    ends["title"] = "Time to the end of all iterations";
    ends["y"] = {{"label", "time"}, {"unit", "s"}};
    charts.push_back(std::move(ends));
  }
  std::string note;
  if (IterationsOfEach(study) && study.cells.size() > 1) {
    note =
        "Every worker does the same number of iterations, so no job ends before its slowest machine is done.";
    if (level) note += fmt::format(" The time to {} is what a model gains.", level->text());
  }
  return Section("How fast", note, std::move(charts));
}

Json Waiting(const Study& study) {
  Json charts = {WaitBars(study)};
  if (study.base.job.servers > 1 || study.cells.size() > 1) charts.push_back(ServerBars(study));
  return Section("Who waits, and at which server", "", std::move(charts));
}

std::string BlankNote(const std::vector<std::string>& blank, const char* what) {
  return blank.empty()
             ? ""
             : fmt::format(" There is no map of {} where it would be blank: {}.", what, Listed(blank));
}

// The map of waits and the window of the timeline, side by side for each cell.
Json OverTime(const Study& study) {
  const std::vector<std::size_t> cells = CellsWithMaps(study);
  Json charts = Json::array();
  std::vector<std::string> calm, outside;
  for (const std::size_t i : cells) {
    const Cell& cell = study.cells[i];
    StudyMaps waits = WaitMaps(study, {i});
    for (Json& map : waits.charts) charts.push_back(std::move(map));
    calm.insert(calm.end(), waits.blank.begin(), waits.blank.end());
    if (cell.scenario.recording.timeline_s <= 0 || scenario::RunsThatEndedWell(cell).empty()) continue;
    if (std::optional<Json> timeline = TimelineChart(cell))
      charts.push_back(*std::move(timeline));
    else
      outside.push_back(cell.label);
  }
  std::string note = "The first run of each setting.";
  if (cells.size() < study.cells.size()) note += " Only the first and the last setting.";
  note += BlankNote(calm, "waits");
  if (!outside.empty())
    note += fmt::format(" No timeline of {}: the run ended before its window.", Listed(outside));
  return Section("What the workers do over time", note, std::move(charts));
}

Json Details(const Study& study, const StudyWords& words) {
  Json charts = Json::array();
  for (const char* what : {"loss", "accuracy"}) {
    if (!HasCurve(study, what)) continue;
    if (what == std::string("loss")) charts.push_back(CurveChart(study, what, Against::kTime));
    charts.push_back(CurveChart(study, what, Against::kIterations));
  }
  if (study.cells.size() > 1) {
    for (const char* figure : {"wait_s", "dprs_per_100"}) charts.push_back(FigureBars(study, words, figure));
  }
  StudyMaps lags = LagMaps(study, CellsWithMaps(study));
  for (Json& map : lags.charts) charts.push_back(std::move(map));
  for (const char* plot : {"waits", "answers"}) {
    for (Json& chart : ChartsOfPlot(plot, study, words)) charts.push_back(std::move(chart));
  }
  return Section("Details: curves by iterations, lags, spread of waits",
                 BlankNote(lags.blank, "iterations behind"), std::move(charts), true);
}

Json Asked(const Study& study, const StudyWords& words) {
  Json charts = Json::array();
  for (const std::string& plot : words.plots) {
    for (Json& chart : ChartsOfPlot(plot, study, words)) charts.push_back(std::move(chart));
  }
  return Section("Plots", "", std::move(charts));
}

}  // namespace

Json StudyDocument(const Study& study, const StudyWords& words) {
  const std::optional<CommonLevel> level = CommonLevelOf(study);
  Json sections = Json::array();
  sections.push_back(
      Section("Results", fmt::format("{}", fmt::join(words.texts, " ")), {TableChart(study, words)}));
  const bool ran = std::ranges::any_of(
      study.cells, [](const Cell& cell) { return !scenario::RunsThatEndedWell(cell).empty(); });
  if (ran && !words.plots.empty()) sections.push_back(Asked(study, words));
  if (ran) {
    for (Json& section : std::vector<Json>{Speed(study, words, level), Waiting(study), OverTime(study),
                                           Details(study, words)}) {
      if (!section["charts"].empty()) sections.push_back(std::move(section));
    }
  }
  return {{"title", words.title.empty() ? study.base.name : words.title},
          {"subtitle", SubtitleOf(study, words)},
          {"verdict", VerdictOf(study, words, level)},
          {"errors", ErrorsShown(study)},
          {"facts", FactsOf(study, words)},
          {"scenario", StudyToml(study, words)},
          {"sections", std::move(sections)}};
}

}  // namespace leeway::app
