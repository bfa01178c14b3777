// SchedulerNode: membership, placement, barriers, batch pools and status of one job. Not on the path of any
// push or pull.
//
// A single-threaded state machine over Env that routes events to its modules, one file each in this folder.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/registry.h"
#include "leeway/env.h"
#include "leeway/optimizer.h"
#include "leeway/options.h"
#include "leeway/placement.h"
#include "leeway/sync_model.h"
#include "node/scheduler/checkpoint_requests.h"
#include "node/scheduler/held_pushes.h"

namespace leeway {

// What the scheduler checks tables and job options against; owned by the caller for the node's life.
struct SchedulerPolicies {
  const Registry<SyncModel>& sync;
  const Registry<Optimizer>& optimizers;
  const Registry<Placement>& placements;
};

class SchedulerNode {
 public:
  // `ended` is called once: ok when every worker has left and said goodbye, else why the job cannot go on.
  SchedulerNode(const SchedulerOptions& options, Env& env, const SchedulerPolicies& policies,
                std::function<void(const Status&)> ended);
  ~SchedulerNode();

  // Checks the options and listens.
  [[nodiscard]] Status Start();
  // Ends the job for everyone, with `why` as the reason: all are told, and `ended` follows once they have
  // gone (or after link.hello_timeout).
  void Stop(const Status& why);
  [[nodiscard]] const std::string& address() const;
  // The log is read, and no other process has it; also when none is kept.
  [[nodiscard]] bool has_log() const;
  // The state of the job as JSON: phase, epoch, members, shards, tables, per-node figures, job totals.
  [[nodiscard]] std::string StatusJson() const;
  // Pushes that blocks lack, as far as the job knows: what its workers have reported, and what it has
  // counted.
  [[nodiscard]] HeldPushes::Lacking Lacking() const;
  // A checkpoint now, whatever the options say. `done` is called once: when it is whole or given up, or at
  // once when there can be none.
  void RequestCheckpoint(CheckpointRequests::Done done);

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace leeway
