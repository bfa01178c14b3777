// Checks of a scheduler's options before it starts, and the job as the welcome tells it.
#pragma once

#include "leeway/options.h"
#include "leeway/status.h"
#include "node/scheduler/log_file.h"
#include "wire/control.pb.h"

namespace leeway {
// Numbers and limits; specs are checked by TableRegistry.
[[nodiscard]] Status CheckJob(const JobOptions& job);
[[nodiscard]] Status CheckPatience(const SchedulerOptions& options);
void FillJob(const JobOptions& job, wire::pb::Job& out);
// An error names what differs between the job of a log and this one.
[[nodiscard]] Status CheckSameJob(const DecodedLog& log, const JobOptions& job);
}  // namespace leeway
