// The power-loss workload: a job that loses all power again and again, at drawn moments, and resumes each
// time from its newest checkpoint with another number of servers. It must end with the bits of an undisturbed
// job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace leeway::sim {

struct PowerLossReport {
  std::vector<std::string> problems;  // empty: no problem
  std::uint64_t losses = 0;           // of power
  std::uint64_t resumed = 0;          // lives of the job that began from a checkpoint
  std::uint64_t states = 0;           // of ranks, restored after a resume

  [[nodiscard]] bool ok() const { return problems.empty(); }
};

[[nodiscard]] PowerLossReport RunPowerLoss(std::uint64_t seed);

}  // namespace leeway::sim
