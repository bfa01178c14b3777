// Simulate: a scenario file and what the command line adds to it, run and reported.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "assembly/policies.h"
#include "leeway/status.h"
#include "problem/problem.h"
#include "scenario/study.h"
#include "simulate/scenario_file.h"

namespace leeway::app {

struct SimulateOptions {
  std::string file;      // of a scenario
  std::string from_run;  // instead: the record of a real run
  Policies policies = Policies::Builtin();
  std::vector<std::string> sets;    // "key=value"
  std::vector<std::string> sweeps;  // "key=a,b,c"; instead of the file's
  std::uint64_t seed = 1;
  std::uint32_t seeds = 0;  // 0: as many as the file says
  std::uint32_t threads = 1;
  bool quick = false;
  std::size_t table_columns = 80;   // the width of the table on stdout
  bool dry_run = false;             // check and print the scenarios, and run nothing
  std::string json, report, trace;  // files; empty: none, "-": stdout
  // Asked now and then by any thread, one at a time: to stop, and be left with the runs that are done.
  // Nothing: never.
  std::function<bool()> stop;
};

struct Finished {
  scenario::Study study;
  bool stopped = false;
  StudyWords words;
};

// Reads, plans and runs; no file is written.
[[nodiscard]] Result<Finished> RunFile(const SimulateOptions& options,
                                       const Registry<problem::Problem>& problems);
// The same of a scenario that has been read.
[[nodiscard]] Result<Finished> RunScenarioFile(ScenarioFile file, const SimulateOptions& options,
                                               const Registry<problem::Problem>& problems);
// Of options.from_run: predicts, beside what was measured where the run predicted is the one recorded.
[[nodiscard]] Result<Finished> RunPrediction(const SimulateOptions& options);
// ... and writes what was asked for, after Ctrl-C of the runs that are done. The exit code: 1 if a run did
// not end well, 128 and the signal's number if it was stopped.
[[nodiscard]] Result<int> Simulate(const SimulateOptions& options);

}  // namespace leeway::app
