// RunToEnd: starts a cluster, gives every rank its part of a workload, and runs until all have ended or one
// has met a problem. Workloads share it, so that the end of a run and the list of unfinished ranks are
// defined once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/cluster.h"

namespace leeway::sim {

// The longest simulated time from the last fault to the end of a workload without limits of its own.
inline constexpr Duration kCalmLimit = std::chrono::seconds(20);

// One rank's part of a workload.
class WorkloadPart {
 public:
  virtual ~WorkloadPart() = default;
  virtual void Begin() = 0;
  [[nodiscard]] virtual bool done() const = 0;
  // Its position and the cause of its wait, for the report of an unfinished part.
  [[nodiscard]] virtual std::string Where() const = 0;
};

using MakePart = std::function<std::unique_ptr<WorkloadPart>(std::uint32_t rank)>;

// Fills `parts`, by rank; the caller keeps them, because they must outlive the cluster's events. Parts report
// to `problems`; a run is over at its first entry. RunToEnd adds the errors of the cluster's nodes and, if
// the job has not ended `calm` after the last fault, who waits for what.
void RunToEnd(Cluster& cluster, std::vector<std::unique_ptr<WorkloadPart>>& parts, const MakePart& make,
              std::vector<std::string>& problems, Duration calm = kCalmLimit);

// For people: the problems of a run, the line that replays it, and the nodes' last log lines. Empty without
// problems.
[[nodiscard]] std::string FailureText(const std::vector<std::string>& problems, const std::string& replay,
                                      const std::vector<std::string>& log);

}  // namespace leeway::sim
