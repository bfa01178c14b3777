// JobStatus: the scheduler's status JSON (docs/cli.md has its fields), as the launcher needs it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/status.h"

namespace leeway::app {

using Figures = std::map<std::string, double>;
// 0 for a figure that was never reported.
[[nodiscard]] double Figure(const Figures& figures, const std::string& name);

struct WorkerStatus {
  std::uint32_t rank = 0;
  std::uint64_t incarnation = 0;  // lives that have joined as this rank
  std::string state;              // joined, suspect, lost, left, dead
  std::int64_t iteration = -1;
  Figures figures;
  std::string waiting_for;  // empty: for nobody
  double silent_s = 0;
};

struct ShardStatus {
  std::uint32_t shard = 0;
  std::uint32_t server = 0;
  Figures figures;
  std::string state;  // up, down, lost
  std::string waiting_for;
};

struct TableStatus {
  std::string name, sync, apply, optimizer;
  std::uint64_t elements = 0, blocks = 0;
};

struct PoolStatus {
  std::string name;
  std::uint64_t batches = 0, done = 0;
};

struct CheckpointsStatus {
  std::string folder;        // empty: the job writes none
  std::string resumed_from;  // empty: it began anew
  std::uint64_t completed = 0, given_up = 0;
  std::string last_failure;
  // Of the last whole one; an empty last_folder: there is none.
  std::uint64_t last = 0;
  std::int64_t last_iteration = -1;
  std::string last_folder;
  double last_age_s = 0;
};

struct JobStatus {
  std::string job;
  std::string phase;  // gathering, running, ended
  double uptime_s = 0;
  std::vector<WorkerStatus> workers;
  std::vector<ShardStatus> shards;
  std::vector<TableStatus> tables;
  std::vector<PoolStatus> pools;
  CheckpointsStatus checkpoints;

  // Sums over workers resp. shards.
  [[nodiscard]] double OfWorkers(const std::string& figure) const;
  [[nodiscard]] double OfShards(const std::string& figure) const;
};

// Fields that are not there keep their defaults, unknown ones are skipped: launcher and scheduler may differ
// in version.
[[nodiscard]] Result<JobStatus> ParseJobStatus(std::string_view json);

}  // namespace leeway::app
