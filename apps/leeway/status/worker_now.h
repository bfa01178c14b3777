// The present activity of each worker of a job, and the nodes that it waits for. Everything about waits that
// a status shows comes from here, so that no two parts of it contradict each other.
//
// A worker reports what it waits on, and a server reports which workers are missing there. A server's report
// counts only where the workers' own reports do not say otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "status/job_status.h"

namespace leeway::app {

// True if its script is held up. A verdict that is on its way holds up nobody for a while.
[[nodiscard]] bool Waits(const WorkerStatus& worker);
// The workers that it waits for, as far as that is known; by rank.
[[nodiscard]] std::vector<std::uint32_t> WaitsFor(const JobStatus& status, const WorkerStatus& worker);
// "computes, 0.2 s", "waits for w3, 0.8 s (conv1 on s0)", "waits for batches, 0.3 s", "left".
[[nodiscard]] std::string DoesNow(const JobStatus& status, const WorkerStatus& worker);
// "w0, w1, w2 for w3; w4 for s1": waiting workers by what they wait for, the largest group first; empty:
// nobody waits.
[[nodiscard]] std::string WhoWaitsForWhom(const JobStatus& status);
// How many workers wait for each of status.workers.
[[nodiscard]] std::vector<std::uint32_t> TimesWaitedFor(const JobStatus& status);

}  // namespace leeway::app
