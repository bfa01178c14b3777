// ExchangePolicy: decides in which iterations a worker exchanges a table with its servers. In the others the
// worker adds its gradients up, and is absent. One file per policy in src/exchange/.
//
// Policies are stateless: the same view has the same answer. Thread rule: the worker node calls a policy on
// the node's thread, once for each table and iteration.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "leeway/ids.h"

namespace leeway {

// One table in one iteration of one worker, when the worker has its gradient or ends the iteration without
// one. Valid during the call. A call may cost as much as it says.
class ExchangeView {
 public:
  virtual ~ExchangeView() = default;
  // The iteration that the worker decides about.
  [[nodiscard]] virtual Iteration iteration() const = 0;
  // The last iteration that this worker exchanged; before the first one, the iteration before the table
  // began.
  [[nodiscard]] virtual Iteration exchanged() const = 0;
  // How many of this worker's own iterations, up to the present one, the values that it holds lack; of the
  // block that lacks most. nullopt: not known of some block. Costs a step per block.
  [[nodiscard]] virtual std::optional<std::int64_t> Age() const = 0;
  // |g| / |w|: g adds up the gradients since the last exchange, w is the value in use. Infinity where w is 0.
  // nullopt: there is no gradient. Reads every value of the table.
  [[nodiscard]] virtual std::optional<double> Significance() const = 0;
};

class ExchangePolicy {
 public:
  virtual ~ExchangePolicy() = default;
  // True: the worker pushes the sum of its gradients now, and pulls. False: it keeps them for a later
  // iteration. The laziest correct implementation returns true.
  [[nodiscard]] virtual bool IsDue(const ExchangeView& view) const = 0;
  // True promises that every iteration is due. The worker then keeps no sums, and asks no more.
  [[nodiscard]] virtual bool EveryIteration() const { return false; }
};

using ExchangePolicyPtr = std::unique_ptr<ExchangePolicy>;

}  // namespace leeway
