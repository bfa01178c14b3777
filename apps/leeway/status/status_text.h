// StatusText: a status -> what `leeway ctl status` shows, and the line about checkpoints that summaries
// share.
#pragma once

#include <cstddef>
#include <string>

#include "status/job_status.h"
#include "status/progress.h"

namespace leeway::app {

// Several lines of at most 80 columns, the last one ended too: the job, its workers, its tables, the account.
[[nodiscard]] std::string StatusText(const JobStatus& status);
// The same for a screen of `rows` lines: what matters most comes first, and what has no room is counted.
// `progress` was told of this status.
[[nodiscard]] std::string WatchText(const JobStatus& status, const Progress& progress, std::size_t rows);
// The scheduler's status on one line, with the account of the job (AccountJson) added to it.
[[nodiscard]] std::string StatusJson(const std::string& status_json);
// Which counts a scheduler lacks that took the job over; empty: it has begun the job itself.
[[nodiscard]] std::string TookOverLine(const JobStatus& status);
// "checkpoints: 3 whole, the last of iteration 90 at /c/checkpoint-00000004; 1 given up: disk full"; empty
// when the job writes none.
[[nodiscard]] std::string CheckpointsLine(const CheckpointsStatus& checkpoints);

}  // namespace leeway::app
