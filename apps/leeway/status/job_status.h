// JobStatus: the scheduler's status JSON (docs/cli.md has its fields), as the launcher needs it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/status.h"

namespace leeway::app {

using Figures = std::map<std::string, double>;
// 0 for a figure that was never reported.
[[nodiscard]] double Figure(const Figures& figures, const std::string& name);

// A report that is older is worth a word: nodes report once a second.
inline constexpr double kOldReport_s = 3;

// A worker's activity at its last report.
struct WorkerNow {
  double computing_s = 0;     // of its step, so far; 0: it does not compute
  double waiting_s = 0;       // 0: it does not wait, or it is not known for how long
  std::string waits_on = {};  // empty: nothing; values, verdict, barrier, batches, members, ...
  std::string name = {};      // values, verdict: the table; barrier: its name
  std::optional<std::uint32_t> server = {};  // values, verdict
  std::vector<std::uint32_t> ranks = {};     // members: ranks that have not left yet
};

struct WorkerStatus {
  std::uint32_t rank = 0;
  std::uint64_t incarnation = 0;  // lives that have joined as this rank
  std::string state;              // joined, suspect, lost, left, dead
  std::int64_t iteration = -1;
  Figures figures;
  std::string waiting_for;  // empty: for nobody
  double silent_s = 0;
  double report_age_s = 0;
  WorkerNow now = {};
  std::string host;  // where its process runs, and its id there
  std::uint64_t pid = 0;
};
// Steps that it has done in this job. Its iteration also counts those before the checkpoint that the job
// resumed from, and before it joined; it stands in for workers that report no steps.
[[nodiscard]] std::int64_t StepsOf(const WorkerStatus& worker);

struct ShardStatus {
  std::uint32_t shard = 0;
  std::uint32_t server = 0;
  Figures figures = {};
  std::string state = {};  // up, down, lost
  std::string waiting_for = {};
  double report_age_s = 0;
};

// How the blocks of a table on one server stand.
struct TableOnServer {
  std::uint32_t server = 0;
  std::string sync, apply;
  std::int64_t v_train = 0, v_train_max = 0, fastest = -1, slowest = -1;
  std::uint64_t waiting = 0, dpr = 0;
  double waited_s = 0;
  std::string waiting_for;
  std::vector<std::uint32_t> missing;  // workers that `waiting` pulls wait for, some of them
  std::uint64_t tables = 1;            // more: of so many that have no row of their own
};

struct TableStatus {
  std::string name, sync, apply, optimizer;
  std::uint64_t elements = 0, blocks = 0;
  std::vector<TableOnServer> servers;  // as far as they have reported
  bool own_clock = false;  // as tables of broadcast_parameters and push_pull have: no part of the model
};

struct PoolStatus {
  std::string name;
  std::uint64_t batches = 0, done = 0;
};

struct CheckpointsStatus {
  std::string folder = {};        // empty: the job writes none
  std::string resumed_from = {};  // empty: it began anew
  std::uint64_t completed = 0, given_up = 0;
  std::string last_failure = {};
  // Of the last whole one; an empty last_folder: no checkpoint is whole.
  std::uint64_t last = 0;
  std::int64_t last_iteration = -1;
  std::string last_folder = {};
  double last_age_s = 0;
};

struct JobStatus {
  std::string job;
  std::string phase;  // gathering, running, ended
  double uptime_s = 0;
  std::uint32_t workers_wanted = 0, servers_wanted = 0;  // the job begins with them; 0: not said
  std::optional<double> gathered_after_s;  // of the scheduler's life; nothing: the job has not gathered
  std::optional<double> took_over_s;       // since this scheduler goes on from the log of another
  double training_s = 0;                   // from the first step of any worker to the last one that ended
  bool served = false;                     // no worker needs a server any more
  std::vector<WorkerStatus> workers;
  std::vector<ShardStatus> shards;
  std::vector<TableStatus> tables;
  std::vector<TableOnServer> more_tables;  // those without a row of their own, by server
  std::vector<std::string> rules;
  std::vector<PoolStatus> pools;
  CheckpointsStatus checkpoints;
  // Pushes that blocks lack of workers that died, and of the checkpoint that the job began from: taken by a
  // block and lost with its server, or never come to all blocks.
  std::uint64_t lacking_lost = 0, lacking_torn = 0;

  // All that were taken and lost.
  [[nodiscard]] double Lost() const { return OfWorkers("lost") + static_cast<double>(lacking_lost); }
  // Sums over workers resp. shards.
  [[nodiscard]] double OfWorkers(const std::string& figure) const;
  [[nodiscard]] double OfShards(const std::string& figure) const;
  // Such sums of all figures that begin with `prefix`, by what follows it.
  [[nodiscard]] Figures OfWorkersBy(const std::string& prefix) const;
  [[nodiscard]] Figures OfShardsBy(const std::string& prefix) const;
  // Null: the scheduler has not named it.
  [[nodiscard]] const WorkerStatus* FindWorker(std::uint32_t rank) const;
  // Of all workers, over the time of training. 0: not known.
  [[nodiscard]] double SamplesPerSecond() const;
  // The part of the batch pools that is done; nothing without a pool.
  [[nodiscard]] std::optional<double> ShareDone() const;
};

// Fields that are not there keep their defaults, unknown ones are skipped: launcher and scheduler may differ
// in version.
[[nodiscard]] Result<JobStatus> ParseJobStatus(std::string_view json);

}  // namespace leeway::app
