// Cluster: a whole job in a simulated world. Scheduler, servers with their shards, workers; assembly builds
// each node exactly as in the real world, over an Env of its own.
//
// Thread rule: one thread; clusters share nothing. Workloads drive the workers' nodes from their callbacks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "assembly/assembly.h"
#include "leeway/options.h"
#include "sim/disk.h"
#include "sim/event_queue.h"
#include "sim/faults.h"
#include "sim/log_ring.h"
#include "sim/sim_env.h"
#include "sim/sim_network.h"
#include "sim/trace.h"

namespace leeway::sim {

struct ClusterOptions {
  std::uint64_t seed = 1;
  JobOptions job;  // workers, servers and shards say how many nodes there are
  Policies policies = Policies::Builtin();
  LinkOptions link = QuickLinks();
  NetworkOptions network;
  // Makes another network for the nodes, on the given clock. Then the cluster's fault plan and pauses of
  // processes do not touch it.
  std::function<std::unique_ptr<Network>(EventQueue&)> make_network;
  // The costs of jobs off the loop, of the nodes on a host; empty: they take no time of their own.
  std::function<JobCosts(HostId)> job_costs;
  DiskOptions disk;             // one in every host
  Disk* shared_disk = nullptr;  // or this one for all of them, which outlives the cluster,
  std::string shared_folder;    // or for this folder alone
  CheckpointOptions checkpoint;
  std::string log_folder;  // of the scheduler, on its host's disk; empty: it keeps no log
  bool faults = true;
  FaultOptions fault_plan;
  Duration start_spread = std::chrono::milliseconds(5);  // nodes start at random times within it
  // Longer than all faults of a plan together: no member is declared dead, unless a workload wants it.
  std::chrono::milliseconds suspect_after{1500}, expel_after{3000};
  std::chrono::milliseconds gather_timeout{60'000};
  OnWorkerLoss on_worker_loss = OnWorkerLoss::kShrink;
  OnServerLoss on_server_loss = OnServerLoss::kPatch;
  std::uint32_t min_workers = 0;
  bool keeps_state = false;  // of every worker
  // Asked when a worker's node has failed: whether the failure is allowed. Empty: never.
  std::function<bool(std::uint32_t rank, const Status& why)> may_fail;
  std::function<bool(std::uint32_t server, const Status& why)> server_may_fail;  // the same for servers

  // Beats and limits for links of a tenth of a millisecond, so that healing takes little virtual time.
  static LinkOptions QuickLinks();
};

class Cluster {
 public:
  explicit Cluster(const ClusterOptions& options);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Schedules the start of every node. Calls `on_worker` when the node of rank i exists, and again for every
  // later life: the workload begins with worker(i).Join.
  void Start(std::function<void(std::uint32_t rank)> on_worker);
  // Ends the process of a worker as kill -9 does: its connections close, and none of its code runs any more.
  // REQUIRES: not called from inside a callback of the node.
  void CrashWorker(std::uint32_t rank);
  // Starts another process with this rank. REQUIRES: the previous one has crashed.
  void RestartWorker(std::uint32_t rank) { StartWorker(rank); }
  // Stops the process, as SIGSTOP does, until `until`: its timers and incoming bytes wait.
  void PauseWorker(std::uint32_t rank, Duration until);
  // The same for a server, with all its shards. Its disk stays.
  void CrashServer(std::uint32_t server);
  // REQUIRES: the previous process has crashed.
  void RestartServer(std::uint32_t server);
  void PauseServer(std::uint32_t server, Duration until);
  // Starts another process in the place of a server that counts as dead. The old process continues beside it
  // until it learns of it.
  void UsurpServer(std::uint32_t server);
  [[nodiscard]] bool ServerIsUp(std::uint32_t server) const;
  [[nodiscard]] bool AnyServerGone() const;  // crashed, and not started again
  // Counts former processes of servers that have learned that others have their places.
  [[nodiscard]] std::uint64_t fenced_shards() const { return fenced_shards_; }
  // Ends the process of the scheduler, alone or with its host's power. Its disk stays. REQUIRES: not called
  // from inside a callback of the node.
  enum class Crash : std::uint8_t { kProcess, kPower };
  void CrashScheduler(Crash how);
  // Starts another scheduler at the same address, with the same options and disk. REQUIRES: the previous one
  // has crashed.
  void RestartScheduler();
  void PauseScheduler(Duration until);
  // True if the scheduler runs: it has neither crashed nor ended.
  [[nodiscard]] bool scheduler_up() const { return scheduler_ != nullptr && !scheduler_ended_; }
  // Runs events until `done` (asked after each), or until no event is left or virtual time passes `limit`.
  // Returns whether `done`.
  bool RunUntil(const std::function<bool()>& done, Duration limit);
  [[nodiscard]] bool SchedulerEnded() const { return scheduler_ended_; }
  // The scheduler and every shard that runs have ended.
  [[nodiscard]] bool Ended() const;
  // The failures so far; empty if there are no failures.
  [[nodiscard]] std::vector<std::string> Problems() const;

  [[nodiscard]] std::uint32_t workers() const { return static_cast<std::uint32_t>(workers_.size()); }
  [[nodiscard]] WorkerNode& worker(std::uint32_t rank) { return *workers_[rank]->node; }
  // Timers and random bits of the process of a worker's node.
  [[nodiscard]] Env& worker_env(std::uint32_t rank) { return workers_[rank]->env->env(); }
  // Returns the block of the shard that owns it under the highest term; null without an owner.
  [[nodiscard]] const Block* FindBlock(BlockId id) const;
  [[nodiscard]] BlockCounters ServerCounters() const;  // summed over shards
  // Answers that were not sent because newer ones were asked for, of all shards that run.
  [[nodiscard]] std::uint64_t AnswersWithdrawn() const;
  // Elements of every block, by the server that has it now.
  [[nodiscard]] std::vector<std::vector<std::uint64_t>> ElementsOfServers() const;
  [[nodiscard]] const SchedulerNode& scheduler() const { return *scheduler_; }

  // Hosts: the scheduler's, then one per server (with all its shards), then one per worker.
  [[nodiscard]] static HostId scheduler_host() { return HostId(0); }
  [[nodiscard]] static HostId server_host(std::uint32_t server) { return HostId(1 + server); }
  [[nodiscard]] Disk& disk(HostId host) {
    const bool shared = options_.shared_disk != nullptr && options_.shared_folder.empty();
    return shared ? *options_.shared_disk : *disks_[host.index()];
  }

  [[nodiscard]] EventQueue& queue() { return queue_; }
  [[nodiscard]] const SimNetwork& network() const { return network_; }
  [[nodiscard]] FaultCounters faults() const { return faults_.counters(); }
  [[nodiscard]] Duration healed_by() const {
    return options_.faults ? faults_.healed_by() : Duration::zero();
  }
  [[nodiscard]] const TraceHash& trace() const { return trace_; }
  [[nodiscard]] std::vector<std::string> Log() const { return ring_.Lines(); }

 private:
  // One life of one shard.
  struct Shard {
    std::size_t index = 0;
    std::unique_ptr<SimEnv> env;
    std::unique_ptr<ServerNode> node;  // null: not started yet
    bool ended = false;
  };
  struct WorkerProcess final : WorkerNodeEvents {
    WorkerProcess(Cluster& cluster, HostId host, std::uint32_t rank);
    void OnFailed(const Status& why) override;
    Cluster& cluster;
    const HostId host;
    const std::uint32_t rank;
    std::uint32_t lives = 0;
    std::unique_ptr<SimEnv> env;  // of the life under way; null: crashed
    std::unique_ptr<WorkerNode> node;
  };

  [[nodiscard]] Network& wires() { return other_ != nullptr ? *other_ : network_; }
  [[nodiscard]] HostId AddHost();
  [[nodiscard]] JobCosts CostsOf(HostId host) const {
    return options_.job_costs ? options_.job_costs(host) : JobCosts{};
  }
  void StartScheduler();
  void StartShard(std::uint32_t server, std::uint32_t shard);
  [[nodiscard]] std::size_t ShardIndex(std::uint32_t server, std::uint32_t shard) const {
    return std::size_t{server} * options_.job.shards + shard;
  }
  [[nodiscard]] Mount SharedFolder() const {
    return options_.shared_folder.empty() ? Mount{} : Mount{options_.shared_folder, options_.shared_disk};
  }
  // Returns whether a former life of this shard still runs.
  [[nodiscard]] bool IsTakenByAnother(std::size_t index) const;
  // Blocks the paths from every other host to this one.
  void BlockInbound(HostId host, Duration until);
  void StartWorker(std::uint32_t rank);
  [[nodiscard]] AddressSource SchedulerAddress();
  void Report(const std::string& who, const Status& why);

  const ClusterOptions options_;
  const Policies policies_;
  EventQueue queue_;
  TraceHash trace_;
  LogRing ring_;
  SimNetwork network_;                    // of the nodes, unless there is
  const std::unique_ptr<Network> other_;  // ... another one
  FaultPlan faults_;
  SeededRandom random_;
  std::vector<std::unique_ptr<Disk>> disks_;  // by HostId

  std::unique_ptr<SimEnv> scheduler_env_;
  std::unique_ptr<SchedulerNode> scheduler_;
  std::string scheduler_address_;  // empty: not started yet
  std::uint32_t scheduler_lives_ = 0;
  bool scheduler_ended_ = false;
  std::vector<std::unique_ptr<Shard>> shards_;  // by ShardId; null: crashed
  std::vector<std::uint32_t> shard_lives_;      // by ShardId
  std::vector<std::unique_ptr<Shard>> usurped_;
  std::uint64_t fenced_shards_ = 0;
  std::vector<std::unique_ptr<WorkerProcess>> workers_;  // by rank
  std::function<void(std::uint32_t)> on_worker_;
  std::vector<std::string> problems_;
};

}  // namespace leeway::sim
