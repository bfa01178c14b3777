// RecordedScenario: a scenario out of the record of a real run. As it stands it predicts that run; with keys
// set it predicts another one on the same machines.
#pragma once

#include <string>

#include "calibrate/job_record.h"
#include "problem/problem.h"
#include "scenario/scenario.h"

namespace leeway::app {

// The name of the problem that has the record's tables.
inline constexpr const char* kRecordedProblem = "recorded";

[[nodiscard]] scenario::Scenario ScenarioOf(const JobRecord& record, const std::string& name);
// The built-in problems, and the record's.
[[nodiscard]] Registry<problem::Problem> ProblemsWith(const JobRecord& record);

}  // namespace leeway::app
