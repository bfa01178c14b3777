// Study: one scenario, with every combination of the swept values, and every seed for each.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "leeway/status.h"
#include "problem/problem.h"
#include "scenario/run_record.h"
#include "scenario/run_scenario.h"
#include "scenario/scenario.h"

namespace leeway::scenario {

// "policies.sync" over "bsp" and "ssp:3". Keys joined by "+" change together: "cluster.workers+iterations"
// over "8+400" and "16+200"; tables and axes show the first.
struct Sweep {
  std::string key;
  std::vector<std::string> values;
};
// "key=a,b,c"; ";" separates values that contain commas: "policies.sync=ssp:3;pssp:3,0.5".
[[nodiscard]] Result<Sweep> ParseSweep(const std::string& text);
// A hint for an error of a sweep whose values contain the commas that separate them, as in
// "policies.sync=bsp,pssp:3,0.5": the same sweep with ";". Empty if no value contains a comma.
[[nodiscard]] std::string CommaHint(const Sweep& sweep);

struct Cell {
  std::vector<std::pair<std::string, std::string>> settings;  // key and value of each sweep
  std::string label;                                          // the values, for people; the name without any
  Scenario scenario;
  std::vector<RunRecord> records;  // by seed
};

struct Study {
  Scenario base;
  std::vector<std::uint64_t> seeds;
  std::vector<Cell> cells;
};

// An error names cell, key and place of the fault: policies, and problems that `problems` does not know.
[[nodiscard]] Result<Study> PlanStudy(const Scenario& base, const Registry<problem::Problem>& problems,
                                      const std::vector<Sweep>& sweeps, std::uint64_t first_seed,
                                      std::uint32_t seeds);

struct StudyProgress {
  std::size_t runs_done = 0, runs = 0;
  double share = 0;        // of all iterations
  double simulated_s = 0;  // of all runs together
  std::uint64_t messages = 0;
};

// Runs all of it, `threads` runs at a time. The records do not depend on that number. An error of one run
// ends the others. One thread at a time calls `progress`; false stops the study. Then it returns kCancelled,
// and the records of unfinished runs have errors.
[[nodiscard]] Status RunStudy(Study& study, const Registry<problem::Problem>& problems, std::uint32_t threads,
                              const std::function<bool(const StudyProgress&)>& progress = {});

// The runs behind tables and plots: after a stop some runs ended early, and some never began.
[[nodiscard]] std::vector<const RunRecord*> RunsThatEndedWell(const Cell& cell);

// The errors of failed runs, for people: cell, seed, error. Empty if all runs succeeded.
[[nodiscard]] std::vector<std::string> ErrorsOf(const Study& study);

}  // namespace leeway::scenario
