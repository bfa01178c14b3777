// The scheduler-death workload: the scheduler dies, alone or with the power of its host, and restarts on its
// log. Meanwhile a job gathers, makes tables, pushes, waits at barriers, leases batches, writes checkpoints,
// loses and gains workers, and ends. The scheduler's disk is slow or full now and then.
//
// The job must succeed, with the books of every life right. No living member may be declared dead. Every
// batch is done, once (except after a power failure, and for killed workers). Pushes continue meanwhile. The
// seed draws everything.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace leeway::sim {

struct SchedulerDeathOptions {
  std::uint64_t seed = 1;
  std::string sync = {};  // empty: drawn
  bool faults = true;     // of the network, in a part of the runs
};

// Counts the events that took effect.
struct SchedulerDeathCounts {
  std::uint64_t process_crashes = 0, power_losses = 0, restarts = 0;
  std::uint64_t while_gathering = 0;   // crashes before any worker had joined
  std::uint64_t while_ending = 0;      // ... after the first had left
  std::uint64_t torn_logs = 0;         // restarts that found a log with a torn end
  std::uint64_t pushes_meanwhile = 0;  // taken by blocks while no scheduler ran
  std::uint64_t worker_kills = 0;
  std::uint64_t joined_late = 0;
  std::uint64_t full_answers = 0;      // of the scheduler's disk
  std::uint64_t checkpoints = 0;       // whole ones at the end
  std::uint64_t consistent = 0;        // ... whose blocks are all of one iteration
  std::uint64_t repeated_batches = 0;  // done more than once
  SchedulerDeathCounts& operator+=(const SchedulerDeathCounts& other);
};

struct SchedulerDeathReport {
  std::string replay;                 // the command that repeats this run
  std::vector<std::string> problems;  // empty: no problem
  std::vector<std::string> log;       // the nodes' last lines, if there are problems
  std::uint64_t trace_hash = 0, frames = 0;
  SchedulerDeathCounts counts;

  [[nodiscard]] bool ok() const { return problems.empty(); }
  [[nodiscard]] std::string Failure() const;
};

[[nodiscard]] SchedulerDeathReport RunSchedulerDeath(const SchedulerDeathOptions& options);

}  // namespace leeway::sim
