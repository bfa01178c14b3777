// How the tables of a job are synchronized, as a table for people.
#pragma once

#include <string>

#include "launch/job_status.h"

namespace leeway::app {

// One row for each table and server: model, v_train, fastest, slowest, pulls that wait and for whom, DPRs.
// Rows of servers that have nothing different to say about a table are one. Empty when no server has reported
// a table.
[[nodiscard]] std::string SyncText(const JobStatus& status);

}  // namespace leeway::app
