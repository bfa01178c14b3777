// The steps workload: workers that read two tables, compute for as long as the caller says, and add 1 to
// their own cells, so many steps each. It reports the iteration of every step, its begin, and the outcome of
// its gradients; at the end every cell must equal the taken gradients of its worker.
//
// It is smaller than the ledger workload, and assumes less about iterations: here workers may skip, delay or
// add them up.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "leeway/env.h"
#include "leeway/options.h"
#include "leeway/worker.h"
#include "sim/cluster.h"
#include "sim/workloads/drawn_rules.h"

namespace leeway::sim {

// In elements: several blocks on every shard, and one block.
inline constexpr std::int64_t kStepsWide = 96, kStepsNarrow = 5;
inline constexpr std::uint32_t kStepsBlockElements = 8;
// The number of blocks in the gradients of a step.
inline constexpr std::uint32_t kStepsBlocks = kStepsWide / kStepsBlockElements + 1;

struct StepsOptions {
  std::uint64_t seed = 1;
  JobOptions job = {};  // workers, servers, policies; this workload sets the name and the seed
  Policies policies = Policies::Builtin();
  bool faults = false;
  NetworkOptions network = {};
  std::vector<std::uint32_t> steps = {20};  // by rank; the last counts for those that follow
  // The compute time of a step. Empty: a few milliseconds, drawn.
  std::function<Duration(std::uint32_t rank, std::uint32_t step)> compute = {};
  // Called once the cluster is made, to schedule its faults.
  std::function<void(Cluster&)> script = {};
  std::vector<std::uint32_t> mortal = {};  // ranks that the script kills
  // Checkpoints, with a state of every worker, on this disk; without a disk the job writes none.
  CheckpointOptions checkpoint = {};
  Disk* disk = nullptr;
  std::vector<DrawnSwitch> switches = {};
};

struct StepRecord {
  std::int64_t iteration = 0;         // that its gradients were handed in for
  Duration begun{};                   // both tables could be used
  std::int64_t open = 0;              // iterations, this one included, with pushes that had no verdict then
  std::uint32_t taken = 0, late = 0;  // blocks, by the verdicts of that iteration
};

struct StepsReport {
  std::vector<std::string> problems;           // empty: no problem
  std::vector<std::vector<StepRecord>> steps;  // by rank
  std::vector<WorkerCounters> counters;        // by rank; of workers that ended by themselves
  std::vector<std::uint64_t> given;            // by rank: gradients handed in
  std::vector<float> values;                   // of table "wide" at the end; cell i is of rank i % workers
  BlockCounters servers;                       // summed over shards
  std::string status_json;                     // the scheduler's, at the end
  std::uint64_t cuts = 0;
  std::uint64_t answers_withdrawn = 0;
  double virtual_ms = 0;
};

[[nodiscard]] StepsReport RunSteps(const StepsOptions& options);

}  // namespace leeway::sim
