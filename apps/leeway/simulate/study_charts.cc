#include "simulate/study_charts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "scenario/figures.h"
#include "simulate/page_number.h"
#include "simulate/study_table.h"

namespace leeway::app {
namespace {

using scenario::Cell;
using scenario::CurvePoint;
using scenario::RunRecord;
using scenario::Spread;
using scenario::Study;
using Json = nlohmann::ordered_json;

constexpr std::size_t kCurvePoints = 150;

std::string SpreadNote(const Study& study) {
  return study.seeds.size() < 2 ? "" : fmt::format("Mean and range over {} seeds.", study.seeds.size());
}

double CurvePoint::*MemberOf(const std::string& what) {
  return what == "loss" ? &CurvePoint::loss : &CurvePoint::accuracy;
}

double XOf(const CurvePoint& point, Against against) {
  return against == Against::kTime ? point.seconds : static_cast<double>(point.iteration);
}

// Along straight lines between judgements; after the last one the parameters stay as they are.
double ValueAt(double x, const RunRecord& record, double CurvePoint::*what, Against against) {
  const std::vector<CurvePoint>& curve = record.curve;
  const auto after =
      std::ranges::find_if(curve, [&](const CurvePoint& point) { return XOf(point, against) >= x; });
  if (after == curve.end()) return curve.back().*what;
  if (after == curve.begin() || XOf(*after, against) == x) return (*after).*what;
  const CurvePoint& before = *(after - 1);
  const double share = (x - XOf(before, against)) / (XOf(*after, against) - XOf(before, against));
  return before.*what + share * ((*after).*what - before.*what);
}

// The points at which a curve over several runs is drawn: as many as the longest run has, evenly.
std::vector<double> PlacesOf(const std::vector<const RunRecord*>& records, Against against) {
  std::vector<double> places;
  std::size_t length = 0;
  double end = 0;
  for (const RunRecord* record : records) {
    if (record->curve.empty()) continue;
    length = std::max(length, record->curve.size());
    end = std::max(end, XOf(record->curve.back(), against));
    for (const CurvePoint& point : record->curve) places.push_back(XOf(point, against));
  }
  if (records.size() == 1) return places;
  length = std::min(length, kCurvePoints);
  places.clear();
  for (std::size_t i = 0; i < length; ++i)
    places.push_back(end * static_cast<double>(i) /
                     static_cast<double>(std::max<std::size_t>(length - 1, 1)));
  return places;
}

// Low and high only over several runs: a band, or whiskers.
struct Values {
  Json middle = Json::array(), low = Json::array(), high = Json::array();
  void Add(const Spread& spread) {
    middle.push_back(PageNumber(spread.mean));
    low.push_back(PageNumber(spread.low));
    high.push_back(PageNumber(spread.high));
  }
  // As "points" beside the given places, or as "values" without any.
  void Into(Json& series, std::size_t seeds, const std::vector<double>* places = nullptr) && {
    if (places != nullptr) {
      series["points"] = Json::array();
      for (std::size_t i = 0; i < places->size(); ++i)
        series["points"].push_back({PageNumber((*places)[i]), middle[i]});
    } else {
      series["values"] = std::move(middle);
    }
    if (seeds < 2) return;
    series["low"] = std::move(low);
    series["high"] = std::move(high);
  }
};

Json CurveSeries(const Cell& cell, double CurvePoint::*what, Against against, std::size_t seeds) {
  std::vector<const RunRecord*> records = scenario::RunsThatEndedWell(cell);
  std::erase_if(records, [](const RunRecord* record) { return record->curve.empty(); });
  const std::vector<double> places = PlacesOf(records, against);
  Values values;
  for (const double x : places) {
    std::vector<double> here;
    for (const RunRecord* record : records) here.push_back(ValueAt(x, *record, what, against));
    values.Add(scenario::SpreadOf(here));
  }
  Json series = {{"name", cell.label}};
  std::move(values).Into(series, seeds, &places);
  return series;
}

// Counts over several powers of ten are read on a logarithmic scale.
bool IsWide(const Json& values) {
  double low = HUGE_VAL, high = 0;
  for (const Json& value : values) {
    if (!value.is_number() || value.get<double>() <= 0) continue;
    low = std::min(low, value.get<double>());
    high = std::max(high, value.get<double>());
  }
  return high > 50 * low;
}

Json CategoriesOf(const Study& study) {
  Json names = Json::array();
  for (const Cell& cell : study.cells) names.push_back(cell.label);
  return names;
}

// Of the values of all sweeps but the last; a scenario's label if it gives one.
std::string LineNameOf(const Study& study, const StudyWords& words, std::size_t i) {
  const Cell& cell = study.cells[i];
  if (cell.settings.size() < 2) return study.base.name;
  if (!words.labels.empty()) return words.labels[i];
  std::vector<std::string> values;
  for (std::size_t k = 0; k + 1 < cell.settings.size(); ++k) values.push_back(cell.settings[k].second);
  return fmt::format("{}", fmt::join(values, ", "));
}

// One line of FigureLines as it grows.
struct Line {
  std::string name;
  std::vector<double> places;
  Values values;
  Json theirs = Json::array();
};

// The last sweep is the axis, those before it make the lines.
Json FigureLines(const Study& study, const StudyWords& words, const std::string& name) {
  const scenario::Figure& figure = scenario::FigureNamed(name);
  const PaperFigure* const paper = PaperOf(words, name);
  std::vector<Line> lines;
  std::string axis;
  for (std::size_t i = 0; i < study.cells.size(); ++i) {
    const Cell& cell = study.cells[i];
    if (cell.settings.empty()) continue;
    const std::string line = LineNameOf(study, words, i);
    if (lines.empty() || lines.back().name != line)
      lines.push_back({.name = line, .places = {}, .values = {}, .theirs = Json::array()});
    axis = cell.settings.back().first;
    const std::string& at = cell.settings.back().second;
    double x = static_cast<double>(i);
    std::from_chars(at.data(), at.data() + at.size(), x);
    lines.back().places.push_back(x);
    lines.back().values.Add(SpreadOf(figure, cell.records));
    if (paper != nullptr && i < paper->values.size())
      lines.back().theirs.push_back({x, PageNumber(paper->values[i])});
  }
  Json series = Json::array();
  for (Line& line : lines) {
    Json ours = {{"name", line.name}};
    std::move(line.values).Into(ours, study.seeds.size(), &line.places);
    series.push_back(std::move(ours));
    if (!line.theirs.empty())
      series.push_back(
          {{"name", line.name + ", " + words.paper_name}, {"dashed", true}, {"points", line.theirs}});
  }
  return {{"kind", "lines"},        {"title", figure.title},          {"note", SpreadNote(study)},
          {"x", {{"label", axis}}}, {"y", {{"label", figure.title}}}, {"series", std::move(series)}};
}

// A density of times, over all seeds. The reader looks for rare times, so shares are on a logarithmic scale.
Json BinLines(const Study& study, std::vector<double> RunRecord::*bins, const char* title, const char* time,
              const char* share) {
  std::vector<double> places;
  for (std::size_t bin = 0; bin < scenario::kTimeBins; ++bin) places.push_back(scenario::TimeBinMiddle(bin));
  Json series = Json::array();
  for (const Cell& cell : study.cells) {
    Values values;
    for (std::size_t bin = 0; bin < scenario::kTimeBins; ++bin) {
      std::vector<double> shares;
      for (const RunRecord* record : scenario::RunsThatEndedWell(cell)) {
        if (bin < (record->*bins).size()) shares.push_back((record->*bins)[bin]);
      }
      values.Add(scenario::SpreadOf(shares));
    }
    Json line = {{"name", cell.label}};
    std::move(values).Into(line, study.seeds.size(), &places);
    series.push_back(std::move(line));
  }
  return {{"kind", "lines"},
          {"title", title},
          {"note", SpreadNote(study)},
          {"x", {{"label", time}, {"unit", "s"}, {"log", true}}},
          {"y", {{"label", share}, {"log", true}}},
          {"series", std::move(series)}};
}

// The first steps of training take most of the way, under every model alike. The axis begins where the worst
// curve stands after them.
void ZoomOnDifferences(Json& chart, const std::string& what) {
  constexpr std::size_t kPointsMin = 5;
  const bool is_loss = what == "loss";
  double end = is_loss ? -HUGE_VAL : HUGE_VAL;
  for (const Json& series : chart["series"]) {
    const Json& points = series["points"];
    if (points.empty()) continue;
    const std::size_t at = points.size() < kPointsMin ? 0 : 1 + points.size() / 20;
    if (!points[at][1].is_number()) continue;
    const double value = points[at][1].get<double>();
    end = is_loss ? std::max(end, value) : std::min(end, value);
  }
  if (std::isfinite(end))
    chart["y"][is_loss ? "max" : "min"] = is_loss ? std::ceil(end * 20) / 20 : std::floor(end * 20) / 20;
}

}  // namespace

bool HasCurve(const Study& study, const std::string& what) {
  return std::ranges::any_of(study.cells, [&](const Cell& cell) {
    return std::ranges::any_of(scenario::RunsThatEndedWell(cell), [&](const RunRecord* record) {
      return record->curve.size() > 1 && std::isfinite(record->curve.front().*MemberOf(what));
    });
  });
}

Json CurveChart(const Study& study, const std::string& what, Against against, const CommonLevel* level) {
  const bool in_time = against == Against::kTime;
  Json series = Json::array();
  for (const Cell& cell : study.cells)
    series.push_back(CurveSeries(cell, MemberOf(what), against, study.seeds.size()));
  Json chart = {{"kind", "lines"},
                {"title", fmt::format("{} against {}", what == "loss" ? "Loss" : "Accuracy",
                                      in_time ? "simulated time" : "iterations of a worker, on average")},
                {"note", SpreadNote(study)},
                {"x", {{"label", in_time ? "time" : "iteration"}, {"unit", in_time ? "s" : ""}}},
                {"y", {{"label", what}}},
                {"series", std::move(series)}};
  ZoomOnDifferences(chart, what);
  if (level != nullptr && level->what == what)
    chart["marks"] = {{{"y", PageNumber(level->level)}, {"text", level->text()}}};
  return chart;
}

Json FigureBars(const Study& study, const StudyWords& words, const std::string& name) {
  const scenario::Figure& figure = scenario::FigureNamed(name);
  Values values;
  for (const Cell& cell : study.cells) values.Add(SpreadOf(figure, cell.records));
  Json ours = {{"name", "Leeway"}};
  std::move(values).Into(ours, study.seeds.size());
  bool wide = name == "dprs_per_100" && IsWide(ours["values"]);
  Json series = {ours};
  if (const PaperFigure* const paper = PaperOf(words, name)) {
    Json theirs = {{"name", words.paper_name}, {"values", Json::array()}};
    for (const double value : paper->values) theirs["values"].push_back(PageNumber(value));
    wide = wide || IsWide(theirs["values"]);
    series.push_back(std::move(theirs));
  }
  return {{"kind", "bars"},
          {"title", figure.title},
          {"note", SpreadNote(study)},
          {"y", {{"label", figure.title}, {"log", wide}}},
          {"categories", CategoriesOf(study)},
          {"series", std::move(series)}};
}

Json LevelBars(const Study& study, const CommonLevel& level) {
  Values values;
  for (const std::vector<double>& seconds : level.seconds) values.Add(scenario::SpreadOf(seconds));
  Json series = {{"name", level.text()}};
  std::move(values).Into(series, study.seeds.size());
  return {{"kind", "bars"},
          {"title", fmt::format("Time to {}", level.text())},
          {"note", SpreadNote(study)},
          {"y", {{"label", "time"}, {"unit", "s"}}},
          {"categories", CategoriesOf(study)},
          {"series", {series}}};
}

std::vector<Json> ChartsOfPlot(const std::string& plot, const Study& study, const StudyWords& words) {
  const std::size_t colon = plot.find(':');
  const std::string kind = plot.substr(0, colon);
  const std::string what = colon == std::string::npos ? "" : plot.substr(colon + 1);
  if (kind == "curve")
    return {CurveChart(study, what, Against::kTime), CurveChart(study, what, Against::kIterations)};
  if (kind == "bars") return {FigureBars(study, words, what)};
  if (kind == "lines") return {FigureLines(study, words, what)};
  if (kind == "waits")
    return {BinLines(study, &RunRecord::wait_bins, "Waits for parameters", "wait", "share of iterations")};
  if (kind == "answers")
    return {BinLines(study, &RunRecord::answer_bins, "Delays of answers", "from sending to delivery",
                     "share of answers")};
  return {};
}

}  // namespace leeway::app
