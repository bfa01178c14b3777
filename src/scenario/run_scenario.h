// RunScenario: runs one scenario with one seed in a simulated cluster, from the first connection to the last
// goodbye.
#pragma once

#include <cstdint>
#include <functional>

#include "leeway/status.h"
#include "problem/problem.h"
#include "scenario/run_record.h"
#include "scenario/scenario.h"

namespace leeway::scenario {

// The progress of a run, for a bar: iterations of all workers, simulated seconds, messages.
struct RunProgress {
  std::uint64_t iterations = 0, iterations_all = 0;
  double simulated_s = 0;
  std::uint64_t messages = 0;
  std::uint32_t training = 0;  // workers that have iterations left
};

// Returns an error if the scenario cannot run (an unknown policy or problem, missing data). A job that fails
// is no error here: RunRecord::errors has it. RunScenario calls `progress` now and then; false stops the run.
// Thread rule: runs of one registry share the data that their problems read; they may run on several threads.
[[nodiscard]] Result<RunRecord> RunScenario(const Scenario& scenario,
                                            const Registry<problem::Problem>& problems, std::uint64_t seed,
                                            const std::function<bool(const RunProgress&)>& progress = {});

}  // namespace leeway::scenario
