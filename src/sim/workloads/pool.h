// The pool workload: workers of uneven speed draw all their batches from one pool of the job. Nobody dies, so
// every batch must be done exactly once, whatever the network does.
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
};

struct PoolReport {
  std::vector<std::string> problems;     // empty: all is well
  std::vector<std::uint32_t> done;       // by batch: how often it was done
  std::vector<std::uint64_t> by_worker;  // batches that each rank did
};

[[nodiscard]] PoolReport RunPool(const PoolOptions& options);

}  // namespace leeway::sim
