// The pool workload: workers of uneven speed draw all their batches from one pool of the job. No worker dies,
// so every batch must be done exactly once, under any network fault.
//
// Each batch is an iteration with a gradient of 1, and lr is the number of workers. So a step of all workers
// moves the value by 1, and the value must end at -batches, even if few workers make the last steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace leeway::sim {

struct PoolOptions {
  std::uint64_t seed = 1;
  std::uint32_t workers = 3;
  std::uint64_t batches = 100;
  std::uint32_t wanted = 4;  // batches in one lease
  bool faults = true;
  std::string sync = "asp";
  std::string apply{};  // empty: the model's own
};

struct PoolReport {
  std::vector<std::string> problems;     // empty: no problem
  std::vector<std::uint32_t> done;       // by batch: how often it was done
  std::vector<std::uint64_t> by_worker;  // batches that each rank did
  std::vector<float> values;             // at the end, in the order in which workers ended
};

[[nodiscard]] PoolReport RunPool(const PoolOptions& options);

}  // namespace leeway::sim
