// StatusText: a status -> what `leeway ctl status` shows, and the line about checkpoints that summaries
// share.
#pragma once

#include <string>

#include "launch/job_status.h"

namespace leeway::app {

// Several lines, the last one ended too.
[[nodiscard]] std::string StatusText(const JobStatus& status);
// What the scheduler said, with the account of the job (AccountJson) added to it; on one line.
[[nodiscard]] std::string StatusJson(const std::string& status_json);
// "checkpoints: 3 whole, the last of iteration 90 at /c/checkpoint-00000004; 1 given up: disk full"; empty
// when the job writes none.
[[nodiscard]] std::string CheckpointsLine(const CheckpointsStatus& checkpoints);

}  // namespace leeway::app
