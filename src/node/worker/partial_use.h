// PartialUse: lets an iteration begin without the blocks that have not come (PartialPull says when).
//
// Counts the blocks that are here, has the timer of tau, and shows a table without some of its blocks. Thread
// rule: the node's.
#pragma once

#include <functional>
#include <utility>

#include "leeway/env.h"
#include "leeway/worker.h"
#include "node/worker/partial_pull.h"
#include "node/worker/table_set.h"

namespace leeway {

class PartialUse {
 public:
  // Borrows both. `opened` is called when tau has passed: tables may be used partly from then on.
  PartialUse(Timers& timers, WorkerCounters& counters, std::function<void()> opened)
      : timers_(timers), counters_(counters), opened_(std::move(opened)) {}
  ~PartialUse() { Stop(); }
  PartialUse(const PartialUse&) = delete;
  PartialUse& operator=(const PartialUse&) = delete;

  void SetPolicy(const PullPolicy& policy) { partial_ = PartialPull(policy); }
  [[nodiscard]] const PartialPull& partial() const { return partial_; }
  // Another iteration is waited for.
  void Begin();
  void Stop() { timers_.Cancel(std::exchange(timer_, {})); }
  // Blocks have come, for an iteration that reads what follows `needed`.
  void CountArrived(const TableSet& tables, Iteration needed);
  // The table is shown whole.
  void OnWhole(WorkerTable& table) const;
  // Whether the table may be used without the blocks that lack values after `needed`.
  [[nodiscard]] bool MayUse(const WorkerTable& table, Iteration needed) const;
  // Shows it without them. REQUIRES: MayUse.
  void Use(WorkerTable& table, Iteration needed);

 private:
  Timers& timers_;
  WorkerCounters& counters_;
  const std::function<void()> opened_;
  PartialPull partial_;
  TimerId timer_;
};

}  // namespace leeway
