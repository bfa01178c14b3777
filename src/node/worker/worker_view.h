// WorkerView: what a worker may wait for, to be read only: for reports, for explanations, and for the
// scheduler's questions. Made for one call.
#pragma once

#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/options.h"
#include "node/link.h"
#include "node/worker/array_reads.h"
#include "node/worker/block_rules.h"
#include "node/worker/client_state.h"
#include "node/worker/life_cycle.h"
#include "node/worker/overlap_account.h"
#include "node/worker/partial_pull.h"
#include "node/worker/roster_view.h"
#include "node/worker/scheduler_requests.h"
#include "node/worker/shard_ports.h"
#include "node/worker/step_barrier.h"
#include "node/worker/table_set.h"
#include "node/worker/wait.h"
#include "node/worker/wait_account.h"

namespace leeway {

struct WorkerView {
  TimePoint now;
  WorkerPhase phase;
  TimePoint phase_since;
  bool leave_sent;   // kLeaving: the scheduler was told
  bool final_asked;  // kFinishing: all others have left
  Iteration iteration;
  const JobOptions& job;
  const RosterView& roster;
  const Link& scheduler;
  const SchedulerRequests& requests;
  const TableSet& tables;
  const ShardPorts& ports;
  const ArrayReads& reads;
  const PartialPull& partial;
  const BlockRules& rules;
  const WaitAccount& waits;
  const OverlapAccount& overlap;
  const StepBarrier& step;
  const ClientState& client_state;
};

// The wait of the worker now, in words.
[[nodiscard]] Wait FindWait(const WorkerView& view);

}  // namespace leeway
