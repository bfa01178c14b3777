// Checks of a scheduler's options before it starts, checks of what the running job may be asked for, and the
// job as the welcome tells it.
#pragma once

#include <string>

#include "leeway/options.h"
#include "leeway/status.h"
#include "node/scheduler/log_file.h"
#include "node/scheduler/membership.h"
#include "node/scheduler/table_registry.h"
#include "wire/control.pb.h"

namespace leeway {
// Numbers and limits; specs are checked by TableRegistry.
[[nodiscard]] Status CheckJob(const JobOptions& job);
[[nodiscard]] Status CheckPatience(const SchedulerOptions& options);
// Whether the job has begun, has tables, and is not over.
[[nodiscard]] Status CheckTraining(const std::string& job, bool over, const Membership& members,
                                   const TableRegistry& tables);
// The same before a checkpoint. kNotFound: the job has no tables yet. kFailedPrecondition: it is over, or
// writes no checkpoints.
[[nodiscard]] Status CheckCheckpoint(const std::string& job, bool writes_checkpoints, bool over,
                                     const Membership& members, const TableRegistry& tables);
void FillJob(const JobOptions& job, wire::pb::Job& out);
// An error names what differs between the job of a log and this one.
[[nodiscard]] Status CheckSameJob(const DecodedLog& log, const JobOptions& job);
}  // namespace leeway
