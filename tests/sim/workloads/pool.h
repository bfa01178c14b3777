// The pool workload: workers of uneven speed draw all their batches from one pool of the job. Nobody dies, so
// every batch must be done exactly once, whatever the network does.
//
// Each batch is an iteration with a gradient of 1, and lr is the number of workers: a step that is one of all
// workers moves the value by 1, so it must end at -batches, also if the last steps are of few workers.
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
  std::vector<std::string> problems;     // empty: all is well
  std::vector<std::uint32_t> done;       // by batch: how often it was done
  std::vector<std::uint64_t> by_worker;  // batches that each rank did
  std::vector<float> values;             // at the end, in the order in which workers ended
};

[[nodiscard]] PoolReport RunPool(const PoolOptions& options);

}  // namespace leeway::sim
