// PushLoans: the memory of the user that pushes are sent from, from the call that lends it until the owner
// may have it back.
//
// An owner is told when every block has its verdict and no send reads the memory any more. Records of loans
// are made once and used again, so that a push allocates nothing. Thread rule: the node's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "leeway/env.h"
#include "leeway/worker.h"
#include "node/worker/due_callbacks.h"
#include "node/worker/lent_gradient.h"
#include "node/worker/table.h"
#include "wire/messages.h"

namespace leeway {

// Called with every first verdict of a push of this worker; `v_train` is the block's, as it came with it.
using VerdictObserver =
    std::function<void(TableId, BlockId, Seq, Iteration, wire::Verdict, Iteration v_train)>;

class PushLoans {
 public:
  // Borrows all three. `looked` is called each time the loans that sends still read were looked at.
  PushLoans(Timers& timers, DueCallbacks& due, WorkerCounters& counters, std::function<void()> looked);
  ~PushLoans();
  PushLoans(const PushLoans&) = delete;
  PushLoans& operator=(const PushLoans&) = delete;

  // A loan for all blocks of the table.
  [[nodiscard]] std::shared_ptr<LentPush> Take(const WorkerTable& table, Iteration iteration,
                                               std::uint64_t steps, LentGradient gradient, Done done);
  void SetObserver(VerdictObserver observer) { observer_ = std::move(observer); }
  // A push of the block has its verdict: a gradient, an absence, or an array that was set. With the last
  // block the loan ends.
  void OnVerdict(WorkerBlock& block, QueuedPush push, wire::Verdict verdict, Iteration v_train);
  // A block has, or has refused, its initial values.
  void OnInitialized(const WorkerBlock& block, std::shared_ptr<LentPush> lent, bool refused);
  // Tells the owner, as soon as no send reads the memory any more.
  void Return(std::shared_ptr<LentPush> lent, const Status& status);
  // Sends still read memory whose loan has ended.
  [[nodiscard]] bool draining() const { return !draining_.empty(); }

 private:
  static constexpr std::size_t kSparesMax = 1024;

  void OnGradient(const WorkerBlock& block, std::shared_ptr<LentPush> lent, wire::Verdict verdict);
  void OnAssigned(const WorkerBlock& block, std::shared_ptr<LentPush> lent, wire::Verdict verdict);
  void Recycle(std::shared_ptr<LentPush> lent);
  void OnTimer();

  Timers& timers_;
  DueCallbacks& due_;
  WorkerCounters& counters_;
  const std::function<void()> looked_;
  std::vector<std::pair<std::shared_ptr<LentPush>, Status>> draining_;
  std::vector<std::shared_ptr<LentPush>> spares_;  // loans that have ended, and that nobody else holds
  TimerId timer_;
  VerdictObserver observer_;
};

}  // namespace leeway
