// Account: where the waiting of a job came from, and how stale gradients were, over the figures
// that its nodes report. A figure that nobody reports has no line.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "status/job_status.h"

namespace leeway::app {

// How long workers waited, by the worker, server and table that they waited for; staleness and lead; what was
// late, skipped, absent. Lines of at most 80 columns.
[[nodiscard]] std::string AccountText(const JobStatus& status);
// The same and more as one object; docs/cli.md says what its keys hold.
[[nodiscard]] nlohmann::json AccountJson(const JobStatus& status);

}  // namespace leeway::app
