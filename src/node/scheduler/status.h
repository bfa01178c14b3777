// The state of a job as JSON, for people and for `leeway run`.
#pragma once

#include <string>

#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/options.h"
#include "node/scheduler/batch_pools.h"
#include "node/scheduler/checkpoints.h"
#include "node/scheduler/held_pushes.h"
#include "node/scheduler/membership.h"
#include "node/scheduler/reports.h"
#include "node/scheduler/table_registry.h"

namespace leeway {

// Borrows the scheduler's modules for one call.
struct JobStatus {
  const JobOptions& job;
  const char* phase;  // gathering, running, ended
  Epoch epoch;
  TimePoint started;  // the scheduler
  TimePoint now;
  const Membership& members;
  const TableRegistry& tables;
  const BatchPools& pools;
  const Reports& reports;
  const CheckpointOptions& checkpoint_options;
  const Checkpoints& checkpoints;
  const HeldPushes::Lacking& lacking;
  bool served;              // no worker needs a server any more
  Duration gathered_after;  // from the start of the scheduler, if the job has gathered
  bool took_over;           // from the log of a scheduler before
};

[[nodiscard]] std::string ToJson(const JobStatus& status);

// Every worker that is still there has left and has its final values: a server's death harms nobody.
[[nodiscard]] bool AllServed(const Membership& members, const Reports& reports);

}  // namespace leeway
