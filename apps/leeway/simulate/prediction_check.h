// PredictionCheck: real runs of a job under several settings, and what a record of the first alone says of
// each of them. `leeway bench predict` reports it.
#pragma once

#include <string>
#include <vector>

#include "calibrate/job_record.h"
#include "leeway/status.h"

namespace leeway::app {

// One way to run the job.
struct PredictedCase {
  std::string name;
  std::vector<std::string> flags;                                            // of leeway run
  std::vector<std::string> sets;                                             // the same as keys of a scenario
  std::vector<double> measured_s = {}, predicted_s = {}, others_cores = {};  // run by run
  // Of the medians: 0.1 is 10 % too long.
  [[nodiscard]] double error() const;
};

// bsp as it is recorded, ssp:3 with a slow worker, and partial pull.
[[nodiscard]] std::vector<PredictedCase> UsualCases();

// Seconds, simulated from the record at `path` with `sets`: the mean over a few seeds.
[[nodiscard]] Result<double> Predict(const std::string& path, const std::vector<std::string>& sets);

[[nodiscard]] std::string ToJson(const std::vector<PredictedCase>& cases);
[[nodiscard]] std::string ToText(const std::vector<PredictedCase>& cases);

}  // namespace leeway::app
