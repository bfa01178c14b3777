// RunRowTurn: one run of one row of `leeway bench train`: its scheduler, servers and workers as processes on
// the machines of an emulated network, from the first process to the end of the last.
#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "bench/cluster/emulated_network.h"
#include "bench/cluster/emulated_worker.h"
#include "bench/cluster/train_row.h"

namespace leeway::bench {

struct RowTurnPlan {
  const TrainRow& row;
  std::span<const problem::Table> tables;
  problem::ComputeShares shares;
  double step_s = 0;
  std::uint32_t warm_up = 1, steps = 1;  // at least one of each
  // Null: all processes share the loopback of this host. A row alone uses none.
  const EmulatedNetwork* network = nullptr;
  // Server i is on machine i; or, apart, on machine `servers_from` + i.
  std::uint32_t servers_from = 0;
  TraceOptions trace = {};  // for all workers and servers
};

// The figures of one run, over the counted steps. Not a number where nothing was measured.
struct RowTurn {
  double steps_s = 0;    // of all workers together
  double computing = 0;  // share of the time in emulated compute, mean over workers
  double waiting = 0;    // share of the time in which the next layer waited for values
  // From the end of a backward pass until the values of the first layer were there: mean over workers.
  double first_values_s = 0;
  double gbit_s = 0;        // through the busiest card, in its busier direction
  double idle = 0;          // unused share of this host's processor
  double exchanges = 1;     // of a table with its servers, for each step
  double overlap = NAN;     // hidden share of the communication, by the workers' accounts; NaN without any
  double bytes_a_step = 0;  // sent and received by a worker, what stays on its machine too
  double seconds = 0;       // the whole run took
  std::vector<TrainStep> counted = {};
};

// kCancelled once `stop` returns true. REQUIRES: the process has no other threads.
[[nodiscard]] Result<RowTurn> RunRowTurn(const RowTurnPlan& plan, const std::function<bool()>& stop);

}  // namespace leeway::bench
