#include "simulate/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/errors.h"
#include "base/split.h"
#include "cli/command_line.h"
#include "scenario/keys.h"
#include "simulate/report_page.h"
#include "simulate/study_bar.h"
#include "simulate/study_document.h"
#include "simulate/study_json.h"
#include "simulate/study_table.h"
#include "simulate/study_table_text.h"
#include "simulate/study_trace.h"
#include "system/signal_inbox.h"
#include "system/text_file.h"
#include "terminal/error_output.h"

namespace leeway::app {
namespace {

constexpr int kSignalExitCode = 128;

Status Set(scenario::Scenario& scenario, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return InvalidArgument("--set: got \"{}\", wanted KEY=VALUE: compute.spread=0.2", text);
  }
  const std::string key = text.substr(0, equals);
  const Status set = scenario::SetKey(scenario, key, scenario::Plain(text.substr(equals + 1)));
  if (!set.ok()) return set.WithContext("--set");
  scenario.said_at[key] = "--set";
  return Status::Ok();
}

// A value that a sweep sets again would have no effect.
Status CheckNotSwept(const std::vector<std::string>& sets, const std::vector<scenario::Sweep>& sweeps) {
  for (const std::string& text : sets) {
    const std::string key = text.substr(0, text.find('='));
    for (const scenario::Sweep& sweep : sweeps) {
      const std::vector<std::string> keys = SplitAt(sweep.key, '+');
      if (std::ranges::find(keys, key) == keys.end()) continue;
      return InvalidArgument(
          "--set: got {}, over which the study has a sweep, wanted another key, or --sweep {}", key, text);
    }
  }
  return Status::Ok();
}

// One for each cell; where the last sweep is an axis, its value follows.
Status Label(const std::vector<std::string>& labels, const std::string& file, scenario::Study& study) {
  if (labels.empty()) return Status::Ok();
  if (labels.size() != study.cells.size()) {
    return InvalidArgument("{}: study.labels: got {} labels, wanted {}, one for each cell", file,
                           labels.size(), study.cells.size());
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    scenario::Cell& cell = study.cells[i];
    cell.label = labels[i];
    if (cell.settings.size() > 1) cell.label += ", " + cell.settings.back().second;
  }
  return Status::Ok();
}

std::size_t RunsDone(const scenario::Study& study) {
  std::size_t done = 0;
  for (const scenario::Cell& cell : study.cells) {
    done += scenario::RunsThatEndedWell(cell).size();
  }
  return done;
}

Status Write(const std::string& path, const std::string& text) {
  if (path.empty()) return Status::Ok();
  if (path != "-") return WriteTextFile(path, text);
  fmt::print("{}", text);
  return Status::Ok();
}

// Each cell's scenario with every key, as a file.
void PrintScenarios(const scenario::Study& study) {
  for (const scenario::Cell& cell : study.cells) {
    if (study.cells.size() > 1) fmt::print("# {}\n", cell.label);
    fmt::print("{}", scenario::ToToml(cell.scenario));
  }
}

// The runs of the scenario, checked; none has begun.
Result<Finished> Plan(ScenarioFile file, const SimulateOptions& options,
                      const Registry<problem::Problem>& problems) {
  file.scenario.policies = options.policies;
  for (const std::string& text : options.sets) {
    LW_RETURN_IF_ERROR(Set(file.scenario, text));
  }
  if (!options.sweeps.empty()) {
    // Of other cells than the file's.
    file.study.sweeps = options.sweeps;
    file.study.labels.clear();
    file.study.plots.clear();
  }
  const std::string where = options.sweeps.empty() ? options.file + ": study.sweeps" : "--sweep";
  std::vector<scenario::Sweep> sweeps;
  for (const std::string& text : file.study.sweeps) {
    const Result<scenario::Sweep> sweep = scenario::ParseSweep(text);
    if (!sweep.ok()) return sweep.status().WithContext(where);
    sweeps.push_back(*sweep);
  }
  LW_RETURN_IF_ERROR(CheckNotSwept(options.sets, sweeps));
  if (!options.trace.empty() && file.scenario.recording.timeline_s == 0) {
    return InvalidArgument(
        "--trace: record.timeline_s is 0, wanted the length of the window: --set record.timeline_s=10");
  }
  Finished finished;
  const std::uint32_t seeds = options.seeds > 0 ? options.seeds : file.study.seeds;
  Result<scenario::Study> planned = scenario::PlanStudy(file.scenario, problems, sweeps, options.seed, seeds);
  if (!planned.ok()) {
    if (sweeps.empty()) return planned.status();
    std::string hints;
    for (const scenario::Sweep& sweep : sweeps) hints += scenario::CommaHint(sweep);
    return Status(planned.status().code(), planned.status().message() + hints).WithContext(where);
  }
  finished.study = *std::move(planned);
  LW_RETURN_IF_ERROR(Label(file.study.labels, options.file, finished.study));
  finished.words = std::move(file.study);
  return finished;
}

}  // namespace

Result<Finished> RunFile(const SimulateOptions& options, const Registry<problem::Problem>& problems) {
  LW_ASSIGN_OR_RETURN(ScenarioFile file,
                      ReadScenario(options.file, options.quick ? Length::kQuick : Length::kWhole));
  if (options.quick && file.study.quick.empty())
    PrintError("leeway: {} has no short form (keys of [study.quick]), so it runs in full\n", options.file);
  return RunScenarioFile(std::move(file), options, problems);
}

Result<Finished> RunScenarioFile(ScenarioFile file, const SimulateOptions& options,
                                 const Registry<problem::Problem>& problems) {
  LW_ASSIGN_OR_RETURN(Finished finished, Plan(std::move(file), options, problems));
  if (options.dry_run) return finished;
  StudyBar bar(finished.study.base.name);
  const auto show = [&](const scenario::StudyProgress& progress) {
    bar.Show(progress);
    finished.stopped = finished.stopped || (options.stop && options.stop());
    return !finished.stopped;
  };
  const Status ran = scenario::RunStudy(finished.study, problems, options.threads, show);
  if (!ran.ok() && ran.code() != StatusCode::kCancelled) return ran;
  return finished;
}

Result<int> Simulate(const SimulateOptions& asked) {
  for (const std::string& path : {asked.json, asked.report, asked.trace}) {
    LW_RETURN_IF_ERROR(CheckTextFile(path));
  }
  SimulateOptions options = asked;
  LW_ASSIGN_OR_RETURN(SignalInbox inbox, SignalInbox::Open({SIGINT, SIGTERM, SIGHUP}));
  std::optional<int> signal;
  options.stop = [&] { return (signal = inbox.Next()).has_value(); };
  LW_ASSIGN_OR_RETURN(const Finished done, options.from_run.empty()
                                               ? RunFile(options, problem::BuiltinProblems())
                                               : RunPrediction(options));
  if (options.dry_run) {
    PrintScenarios(done.study);
    return 0;
  }
  if (options.json != "-" && options.report != "-" && options.trace != "-") {
    fmt::print("{}", StudyTableText(TableOf(done.study, done.words), options.table_columns));
  }
  LW_RETURN_IF_ERROR(Write(options.json, options.json.empty() ? "" : StudyJson(done.study, done.words)));
  LW_RETURN_IF_ERROR(
      Write(options.report, options.report.empty() ? "" : PageHtml(StudyDocument(done.study, done.words))));
  if (!options.trace.empty()) {
    const scenario::Cell& cell = done.study.cells[0];
    LW_RETURN_IF_ERROR(Write(options.trace, TraceJson(cell.records[0], cell.label)));
  }
  const std::vector<std::string> errors = scenario::ErrorsOf(done.study);
  if (done.stopped) {
    PrintError("leeway sim: stopped by {}, with {} of {} runs done\n", strsignal(*signal),
               RunsDone(done.study), done.study.cells.size() * done.study.seeds.size());
    return kSignalExitCode + *signal;
  }
  for (const std::string& error : errors) PrintError("{}\n", error);
  return errors.empty() ? 0 : kFailedExitCode;
}

}  // namespace leeway::app
