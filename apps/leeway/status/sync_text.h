// How the tables of a job are synchronized, as a table for people.
#pragma once

#include <cstddef>
#include <string>

#include "status/job_status.h"

namespace leeway::app {

// One row for each table, or for each model that its servers follow: servers, model, v_train, DPRs, and how
// long workers waited for it. Tables with a clock of their own have no row. At most `rows` of them; if that
// is not all, those with the longest waits. Empty when no server has reported a table.
[[nodiscard]] std::string SyncText(const JobStatus& status, std::size_t rows);
// How many rows there are.
[[nodiscard]] std::size_t SyncRows(const JobStatus& status);
// Servers that are down or lost, or whose last report is old; empty: all is well.
[[nodiscard]] std::string ServersText(const JobStatus& status);

}  // namespace leeway::app
