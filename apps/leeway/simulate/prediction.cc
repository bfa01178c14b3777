// `leeway sim --from-run` adds two things to a study: its origin, and the measured figures beside it.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <utility>

#include "calibrate/job_record.h"
#include "calibrate/recorded_scenario.h"
#include "scenario/keys.h"
#include "simulate/simulate.h"

namespace leeway::app {
namespace {

ScenarioFile FileOf(const JobRecord& record, const std::string& path) {
  ScenarioFile file;
  file.scenario = ScenarioOf(record, std::filesystem::path(path).stem().string());
  file.study.title = fmt::format("Predicted from {}", std::filesystem::path(path).filename().string());
  file.study.texts = {fmt::format(
      "The run that was recorded: {} workers and {} servers under {}, {} iterations after the first of each "
      "worker, in {:.2f} s; on {} cores, of which others took {:.2f}.",
      record.job.workers, record.job.servers, record.job.sync, record.iterations, record.seconds,
      record.host.cores, record.host.others_cores)};
  file.study.paper_name = "measured";
  return file;
}

// Pictures do not change the prediction.
std::string Essence(scenario::Scenario scenario) {
  scenario.recording = {};
  return scenario::ToToml(scenario);
}

}  // namespace

Result<Finished> RunPrediction(const SimulateOptions& options) {
  LW_ASSIGN_OR_RETURN(const JobRecord record, ReadJobRecord(options.from_run));
  const ScenarioFile file = FileOf(record, options.from_run);
  const std::string recorded = Essence(file.scenario);
  LW_ASSIGN_OR_RETURN(Finished done, RunScenarioFile(file, options, ProblemsWith(record)));
  PaperFigure measured{.figure = "seconds", .values = {}};
  for (const scenario::Cell& cell : done.study.cells)
    measured.values.push_back(Essence(cell.scenario) == recorded ? record.seconds : NAN);
  done.words.paper = {std::move(measured)};
  return done;
}

}  // namespace leeway::app
