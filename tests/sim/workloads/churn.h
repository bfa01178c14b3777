// The churn workload: nodes are killed, stopped and restarted while the network fails, and the books of every
// life must still be right. By default it strikes only workers; with `all_roles` also servers, the scheduler
// and the disk, while checkpoints are written.
//
// Every push of a life adds 1 to a cell of that life, in every block. The cell of a life that ended well
// equals its verdicts less the pushes reported as lost. The cell of a killed life is at least its verdicts
// and at most its pushes. No member waits for the dead: the job ends soon after the last fault. The seed
// draws every option that is not given.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "block/block.h"
#include "sim/disk.h"
#include "sim/faults.h"

namespace leeway::sim {

struct ChurnOptions {
  std::uint64_t seed = 1;
  std::string sync = {};       // empty: drawn
  bool faults = true;          // of the network
  bool all_roles = false;      // strike every role
  bool states = false;         // checkpoints are written, with a state of every life
  std::uint32_t switches = 0;  // how often a life sets another model, drawn from all
};

// Counts the steps of dying and coming back.
struct ChurnCounts {
  std::uint64_t crashes = 0, pauses = 0, restarts = 0;
  std::uint64_t fenced = 0;       // lives that learned that they were declared dead or replaced
  std::uint64_t joined_late = 0;  // lives that came to the running job and pushed
  std::uint64_t left = 0;         // lives that ended well
  std::uint64_t gone = 0;         // killed, and not started again
  std::uint64_t server_crashes = 0, server_pauses = 0, server_restarts = 0;
  std::uint64_t server_usurped = 0;          // stopped, and another process was started in its place
  std::uint64_t server_fenced = 0;           // ... and the first learned of it
  std::uint64_t scheduler_power_losses = 0;  // of its host
  std::uint64_t scheduler_crashes = 0, scheduler_pauses = 0, scheduler_restarts = 0;
  std::uint64_t slow_disks = 0, full_disks = 0;
  std::uint64_t resumed = 0;           // times a worker continued with a block under a new term
  std::uint64_t lost = 0;              // pushes that a worker was told are lost
  std::uint64_t certain = 0;           // cells of lives that know all their outcomes
  std::uint64_t uncertain = 0;         // pushes of killed lives without a verdict
  std::uint64_t uncertain_taken = 0;   // ... that are in the values all the same
  std::uint64_t checkpoints = 0;       // whole at the end (of runs with states)
  std::uint64_t states = 0;            // of ranks, in these
  std::uint64_t states_lacking = 0;    // of ranks, not in these
  std::uint64_t rules_set = 0;         // in force on every server
  std::uint64_t rules_unanswered = 0;  // set, and the life ended, or some server did not say so in time
  ChurnCounts& operator+=(const ChurnCounts& other);
};

struct ChurnReport {
  std::string replay;                 // the command that repeats this run
  std::vector<std::string> problems;  // empty: no problem
  std::vector<std::string> log;       // the nodes' last lines, if there are problems
  std::uint64_t trace_hash = 0, frames = 0;
  ChurnCounts counts;
  BlockCounters servers;
  FaultCounters faults;
  DiskCounters disk;

  [[nodiscard]] bool ok() const { return problems.empty(); }
  [[nodiscard]] std::string Failure() const;
};

[[nodiscard]] ChurnReport RunChurn(const ChurnOptions& options);

}  // namespace leeway::sim
