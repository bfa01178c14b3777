// The power-loss workload: a job that loses all power again and again, at drawn moments, and goes on each
// time from its newest checkpoint, with another number of servers. It must end with the bits of a job that
// lost none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace leeway::sim {

struct PowerLossReport {
  std::vector<std::string> problems;  // empty: all is well
  std::uint64_t losses = 0;           // of power
  std::uint64_t resumed = 0;          // lives of the job that began from a checkpoint
  std::uint64_t states = 0;           // of ranks, that were there again after a resume

  [[nodiscard]] bool ok() const { return problems.empty(); }
};

[[nodiscard]] PowerLossReport RunPowerLoss(std::uint64_t seed);

}  // namespace leeway::sim
