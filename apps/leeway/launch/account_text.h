// Account: where the waiting of a job came from, and how old what was read and applied was, over the figures
// that its nodes report. A figure that nobody reports has no line.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "launch/job_status.h"

namespace leeway::app {

// Wait times by server, table and block; how long pulls were held up, by table and missing worker; staleness
// of reads and of applied pushes; what was late, skipped, absent.
[[nodiscard]] std::string AccountText(const JobStatus& status);
// The same as one object: "wait_by_server", "wait_by_table", "wait_by_block" (of "table/index", the worst of
// each worker): seconds of workers by name; "wait_at_step_barriers_s"; "held_block_s_by_table" and
// "held_block_s_by_worker": seconds that pulls were held up, added up over blocks;
// "staleness_read" (of answers), "staleness_used" (of what gradients were computed on), "staleness_applied"
// (counts by age; the last is that and more); "connected_over": connections by carrier; and counts.
[[nodiscard]] nlohmann::json AccountJson(const JobStatus& status);

}  // namespace leeway::app
