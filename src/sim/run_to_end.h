// RunToEnd: starts a cluster, gives every rank its part of a workload, and runs until all have ended or one
// has met a problem. What each workload would otherwise say again: when a run is over, and who did not end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/cluster.h"

namespace leeway::sim {

// How long after the last fault a workload without limits of its own may take to end, in simulated time.
inline constexpr Duration kCalmLimit = std::chrono::seconds(20);

// One rank's part of a workload.
class WorkloadPart {
 public:
  virtual ~WorkloadPart() = default;
  virtual void Begin() = 0;
  [[nodiscard]] virtual bool done() const = 0;
  // Where it is and what it waits for: said of those that did not end.
  [[nodiscard]] virtual std::string Where() const = 0;
};

using MakePart = std::function<std::unique_ptr<WorkloadPart>(std::uint32_t rank)>;

// The parts outlive the cluster's events, so the caller keeps them: `parts` is filled, by rank. `problems` is
// what the parts report to; a run is over at its first entry. Added to it: what the cluster's nodes ended
// with, and, when the job has not ended `calm` after the last fault, who waits for what.
void RunToEnd(Cluster& cluster, std::vector<std::unique_ptr<WorkloadPart>>& parts, const MakePart& make,
              std::vector<std::string>& problems, Duration calm = kCalmLimit);

// For people: the problems of a run, the line that replays it, and the nodes' last log lines. Empty without
// problems.
[[nodiscard]] std::string FailureText(const std::vector<std::string>& problems, const std::string& replay,
                                      const std::vector<std::string>& log);

}  // namespace leeway::sim
