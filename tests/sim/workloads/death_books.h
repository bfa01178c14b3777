// DeathBooks: the records of a run of the scheduler-death workload, and the conditions at its end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "leeway/ids.h"
#include "leeway/options.h"
#include "sim/cluster.h"
#include "sim/workloads/scheduler_death.h"

namespace leeway::sim {

inline constexpr const char* kDeathLogs = "/logs/job";
inline constexpr const char* kDeathCheckpoints = "/checkpoints";
inline constexpr std::uint32_t kDeathLives = 4;  // cells per rank: one for each life
inline constexpr std::uint32_t kDeathTables = 3;

struct DeathPlan {
  JobOptions job;
  std::int64_t iterations = 0;
  std::uint64_t batches = 0;
  std::uint32_t deaths = 0;
  bool power = false;  // some of them take the power of the host
  std::uint32_t kills = 0;
  bool network_faults = false;
  bool own_table = true;  // a table with a clock of its own is made in the middle of the job
  CheckpointOptions checkpoint;
  double disk_slow = 1;
};

// The pushes of one life, and their reported outcomes.
struct DeathBook {
  std::map<std::pair<std::uint32_t, BlockId>, std::uint64_t> taken;  // by table and block: APPLIED and SUMMED
  std::vector<std::uint64_t> pushed = std::vector<std::uint64_t>(kDeathTables);  // by table
  bool ended_well = false;
};

struct DeathBooks {
  explicit DeathBooks(const DeathPlan& plan) : lives(plan.job.workers), batches(plan.batches) {}
  std::vector<std::vector<DeathBook>> lives;  // by rank, then by life
  std::vector<std::uint32_t> batches;         // how often each was done
  bool joined = false, leaving = false;       // some worker has begun
  std::function<void()> on_leaving;           // called once
  std::vector<std::string> problems;
  SchedulerDeathCounts counts;
};

// Adds to the problems: cells of blocks that the books of their life do not allow, batches that were not done
// once, checkpoints that are no consistent cut, a log that does not say that the job is over.
void CheckDeathBooks(Cluster& cluster, const Disk& shared, const DeathPlan& plan, DeathBooks& books);

}  // namespace leeway::sim
