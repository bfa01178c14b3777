// ChurnPlan: the parts of one run of the churn workload, drawn from its seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "leeway/options.h"
#include "sim/seeded_random.h"
#include "sim/workloads/churn.h"
#include "sim/workloads/drawn_rules.h"

namespace leeway::sim {

// Cells per rank: one for each life. A rank that has used them up is killed no more.
inline constexpr std::uint32_t kLivesMax = 6;
inline constexpr std::uint32_t kChurnTables = 3;
inline constexpr std::uint32_t kOwnClock = 2;  // the last table has a clock of its own
inline constexpr const char* kChurnCheckpoints = "/checkpoints";
inline constexpr const char* kChurnLog = "/log";

struct ChurnPlan {
  JobOptions job;
  std::int64_t iterations = 0;     // lives end when the job's clock is here
  std::uint32_t worker_deeds = 0;  // kills and stops
  OnWorkerLoss on_worker_loss = OnWorkerLoss::kShrink;
  bool states = false;
  bool grouped = false;               // two optimizers step in turn, and each has a table
  bool skips = false;                 // the model skips iterations, and drops late pushes
  std::vector<DrawnSwitch> switches;  // by iteration of the job
  // For runs that strike every role.
  bool all_roles = false;
  std::uint64_t checkpoint_every = 0;
  std::uint32_t removals = 0;  // workers that are killed for good
  std::uint32_t server_deeds = 0, scheduler_deeds = 0, disk_deeds = 0;

  // Cells of one block: one for each life of each rank.
  [[nodiscard]] std::size_t cells() const { return std::size_t{job.workers} * kLivesMax; }
};

[[nodiscard]] ChurnPlan MakeChurnPlan(const ChurnOptions& given, SeededRandom& random);

}  // namespace leeway::sim
