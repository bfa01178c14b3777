// RunScenario: one scenario, one seed, from the first connection to the last goodbye, in a simulated cluster.
#pragma once

#include <cstdint>
#include <functional>

#include "leeway/status.h"
#include "problem/problem.h"
#include "scenario/run_record.h"
#include "scenario/scenario.h"

namespace leeway::scenario {

// How far a run is, for a bar: iterations of all workers, simulated seconds, messages.
struct RunProgress {
  std::uint64_t iterations = 0, iterations_all = 0;
  double simulated_s = 0;
  std::uint64_t messages = 0;
  std::uint32_t training = 0;  // workers that have iterations left
};

// An error: the scenario cannot be run (an unknown policy or problem, data that is not there). A job that did
// not end well is no error here: RunRecord::errors says so. `progress` is called now and then; false: stop.
// Runs of one registry share the data that their problems read; they may run on several threads.
[[nodiscard]] Result<RunRecord> RunScenario(const Scenario& scenario,
                                            const Registry<problem::Problem>& problems, std::uint64_t seed,
                                            const std::function<bool(const RunProgress&)>& progress = {});

}  // namespace leeway::scenario
