#include "simulate/study_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "scenario/figures.h"
#include "scenario/keys.h"
#include "simulate/study_table.h"

namespace leeway::app {
namespace {

using Json = nlohmann::ordered_json;

Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json CurveOf(const scenario::RunRecord& record) {
  Json points = Json::array();
  for (const scenario::CurvePoint& point : record.curve) {
    points.push_back({{"seconds", point.seconds},
                      {"iteration", point.iteration},
                      {"loss", Number(point.loss)},
                      {"accuracy", Number(point.accuracy)}});
  }
  return points;
}

// The share of the servers' answers that took about so many seconds.
Json AnswersOf(const scenario::RunRecord& record) {
  Json points = Json::array();
  for (std::size_t bin = 0; bin < record.answer_bins.size(); ++bin)
    points.push_back({{"seconds", scenario::TimeBinMiddle(bin)}, {"share", record.answer_bins[bin]}});
  return points;
}

Json ServersOf(const scenario::RunRecord& record) {
  Json servers = Json::array();
  for (std::size_t i = 0; i < record.servers.size(); ++i) {
    const scenario::ServerLoad& server = record.servers[i];
    const bool measured = i < record.server_message_s.size();
    servers.push_back({{"message_mean_s", measured ? Number(record.server_message_s[i]) : Json(nullptr)},
                       {"bytes_in", server.bytes_in},
                       {"bytes_out", server.bytes_out},
                       {"link_in_busy", server.link_in_busy},
                       {"link_out_busy", server.link_out_busy},
                       {"processor_busy", server.processor_busy},
                       {"queued_mean_s", server.queued_mean_s},
                       {"queued_max_s", server.queued_max_s}});
  }
  return servers;
}

Json RunOf(const scenario::RunRecord& record) {
  Json run = {{"seed", record.seed}};
  for (const scenario::Figure& figure : scenario::AllFigures()) run[figure.name] = Number(figure.of(record));
  run["iterations"] = record.iterations;
  run["applied"] = record.applied;
  run["server_bytes"] = record.server_bytes;
  run["servers"] = ServersOf(record);
  run["curve"] = CurveOf(record);
  run["answers"] = AnswersOf(record);
  run["errors"] = record.errors;
  return run;
}

}  // namespace

std::string StudyJson(const scenario::Study& study, const StudyWords& words) {
  Json cells = Json::array();
  for (std::size_t i = 0; i < study.cells.size(); ++i) {
    const scenario::Cell& cell = study.cells[i];
    Json settings = Json::object();
    for (const auto& [key, value] : cell.settings) settings[key] = value;
    Json figures = Json::object();
    for (const scenario::Figure& figure : scenario::AllFigures()) {
      const scenario::Spread spread = SpreadOf(figure, cell.records);
      figures[figure.name] = {{"mean", Number(spread.mean)},
                              {"deviation", Number(spread.deviation)},
                              {"low", Number(spread.low)},
                              {"high", Number(spread.high)}};
      const PaperFigure* const paper = PaperOf(words, figure.name);
      if (paper != nullptr && i < paper->values.size())
        figures[figure.name][words.paper_name] = Number(paper->values[i]);
    }
    Json runs = Json::array();
    for (const scenario::RunRecord& record : cell.records) runs.push_back(RunOf(record));
    cells.push_back({{"label", cell.label}, {"settings", settings}, {"figures", figures}, {"runs", runs}});
  }
  const Json all = {{"name", study.base.name}, {"scenario", ToToml(study.base)}, {"cells", cells}};
  // A file's name makes a scenario's, and need not be UTF-8.
  return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace leeway::app
