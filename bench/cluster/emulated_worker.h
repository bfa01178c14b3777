// RunEmulatedWorker: a training process without a model. It exchanges real tensors through the public client
// and sleeps where an accelerator would compute.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bench/child.h"
#include "bench/cluster/train_row.h"
#include "leeway/options.h"
#include "problem/compute_shares.h"
#include "problem/problem.h"

namespace leeway::bench {

struct EmulatedWorkerOptions {
  std::string scheduler, secret;  // of its job; kAlone has none
  TraceOptions trace;             // without a folder: none
  std::uint32_t rank = 0;
  TrainPass pass = TrainPass::kWaitFree;
  std::span<const problem::Table> tables;  // in the order of a forward pass
  problem::ComputeShares shares;           // of a step, by table
  double step_s = 0;                       // of compute
  std::uint32_t warm_up = 0, steps = 1;    // steps that do not count, and those that do
};

// One step, as the worker notes it.
struct TrainStep {
  std::uint32_t rank = 0, step = 0;
  double seconds = 0;   // from the end of the step before
  double waited_s = 0;  // of them, for values
  // From the end of the backward pass before until the values of the first layer were here.
  double first_values_s = 0;
};

// Sums over the counted steps of a worker.
struct TrainTotals {
  double bytes_sent = 0, bytes_received = 0;
  double exchanges = 0;  // of tables with the servers, over steps and tables: 1 without a policy that skips
  double communication_s = 0, waited_s = 0;  // by the worker's account of overlap
};

// Tells the parent "step ..." after each step and "totals ..." after the last. Then it waits for a line, ends
// its node and tells "ended". The exit code.
[[nodiscard]] int RunEmulatedWorker(Child::Parent& parent, const EmulatedWorkerOptions& options);

// The lines.
[[nodiscard]] std::string LineOf(const TrainStep& step);
[[nodiscard]] std::string LineOf(const TrainTotals& totals);
[[nodiscard]] bool ReadLine(const std::string& line, TrainStep& step);
[[nodiscard]] bool ReadLine(const std::string& line, TrainTotals& totals);

}  // namespace leeway::bench
