// Exchange: which gradients go out in an iteration, and which add up in the worker until one goes out.
//
// Asks the job's exchange policy and adds up; the node pushes. Thread rule: the node's.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/registry.h"
#include "block/buffer_pool.h"
#include "leeway/exchange.h"
#include "leeway/ids.h"
#include "leeway/status.h"
#include "leeway/worker.h"
#include "node/worker/lent_gradient.h"
#include "node/worker/table.h"

namespace leeway {

class Exchange {
 public:
  // Borrows both for its life.
  Exchange(WorkerCounters& counters, const Registry<ExchangePolicy>& policies)
      : counters_(counters), policies_(policies) {}

  // Makes the policy of this spec; an error if it is not known. Without a policy every iteration exchanges.
  [[nodiscard]] Status TakePolicy(const std::string& spec) {
    LW_ASSIGN_OR_RETURN(policy_, policies_.MakeFromSpec(spec));
    return Status::Ok();
  }
  // Not every iteration exchanges.
  [[nodiscard]] bool AddsUp() const { return policy_ != nullptr && !policy_->EveryIteration(); }
  // A checkpoint holds what blocks have of the iterations below `at`: sums go out before.
  void OnCut(Iteration at) { cut_at_ = at; }
  // An error if the gradient would spoil the gradients of other iterations in the sum.
  [[nodiscard]] Status Check(const WorkerTable& table, Iteration iteration,
                             std::span<const float> gradient) const;
  // Counts how many iterations this worker is ahead of each block that the gradient was computed on.
  void NoteLead(const WorkerTable& table, Iteration iteration);
  // Takes the gradient of this iteration. Returns the gradient to push; nothing: the iteration is absent.
  [[nodiscard]] std::optional<LentGradient> HandIn(WorkerTable& table, Iteration iteration,
                                                   LentGradient gradient, BufferPool& pool);
  // The same in an iteration without a gradient, or with one that was refused.
  [[nodiscard]] std::optional<LentGradient> Close(WorkerTable& table, Iteration iteration);

 private:
  [[nodiscard]] bool IsDue(const WorkerTable& table, Iteration iteration,
                           std::span<const float> gradient) const;

  WorkerCounters& counters_;
  const Registry<ExchangePolicy>& policies_;
  ExchangePolicyPtr policy_;
  Iteration cut_at_{-1};
};

}  // namespace leeway
