// The churn workload: workers are killed, stopped and started again while the network fails, and the books of
// every life must still be right.
//
// Every push of a life adds 1 to a cell of that life, in every block. A life that ended well holds exactly
// what its verdicts say; one that was killed holds at least what its verdicts say and at most what it pushed.
// Nobody waits for the dead: the job ends soon after the last fault. What the options leave open is drawn
// from the seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "block/block.h"
#include "sim/faults.h"

namespace leeway::sim {

struct ChurnOptions {
  std::uint64_t seed = 1;
  std::string sync = {};  // empty: drawn
  bool faults = true;     // of the network
};

// How often each step of dying and coming back was taken.
struct ChurnCounts {
  std::uint64_t crashes = 0, pauses = 0, restarts = 0;
  std::uint64_t fenced = 0;           // lives that learned that they were declared dead or replaced
  std::uint64_t joined_late = 0;      // lives that came to the running job and pushed
  std::uint64_t left = 0;             // lives that ended well
  std::uint64_t uncertain = 0;        // pushes of killed lives without a verdict
  std::uint64_t uncertain_taken = 0;  // ... that are in the values all the same
  ChurnCounts& operator+=(const ChurnCounts& other);
};

struct ChurnReport {
  std::string replay;                 // the command that repeats this run
  std::vector<std::string> problems;  // empty: all is well
  std::vector<std::string> log;       // the nodes' last lines, if there are problems
  std::uint64_t trace_hash = 0, frames = 0;
  ChurnCounts counts;
  BlockCounters servers;
  FaultCounters faults;

  [[nodiscard]] bool ok() const { return problems.empty(); }
  [[nodiscard]] std::string Failure() const;
};

[[nodiscard]] ChurnReport RunChurn(const ChurnOptions& options);

}  // namespace leeway::sim
