// WhoWaits: a status -> a table of who waits for what, for the moment when a job seems to stand still.
#pragma once

#include <string>

#include "status/job_status.h"

namespace leeway::app {

// Every worker and shard; several lines, the last one ended too.
[[nodiscard]] std::string WhoWaitsText(const JobStatus& status);
// The same from the scheduler's JSON.
[[nodiscard]] std::string WhoWaitsText(const std::string& status_json);

}  // namespace leeway::app
