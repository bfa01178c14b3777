// Cluster: a whole job in a simulated world. Scheduler, servers with their shards, workers; each node built
// by assembly, exactly as in the real world, over an Env of its own.
//
// One thread, and nothing shared with other clusters. Workloads drive the workers' nodes from their
// callbacks.
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
  LinkOptions link = QuickLinks();
  NetworkOptions network;
  DiskOptions disk;             // one in every host
  Disk* shared_disk = nullptr;  // or this one for all of them, which outlives the cluster
  CheckpointOptions checkpoint;
  bool faults = true;
  FaultOptions fault_plan;
  Duration start_spread = std::chrono::milliseconds(5);  // nodes start at random times within it
  // Longer than all faults of a plan together: nobody is declared dead, unless a workload wants it.
  std::chrono::milliseconds suspect_after{1500}, expel_after{3000};
  OnWorkerLoss on_worker_loss = OnWorkerLoss::kShrink;
  std::uint32_t min_workers = 0;
  // Asked when a worker's node has failed: whether that is all right. Nothing: it never is.
  std::function<bool(std::uint32_t rank, const Status& why)> may_fail;

  // Beats and limits that fit links of a tenth of a millisecond, so that healing takes little virtual time.
  static LinkOptions QuickLinks();
};

class Cluster {
 public:
  explicit Cluster(const ClusterOptions& options);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Schedules the start of every node. `on_worker` is called when the node of rank i exists, and again for
  // every life that follows: the workload begins with worker(i).Join.
  void Start(std::function<void(std::uint32_t rank)> on_worker);
  // Ends the process of a worker as kill -9 does: its connections close, and nothing of it runs any more. Not
  // from inside a callback of the node.
  void CrashWorker(std::uint32_t rank);
  // Starts another process with this rank. REQUIRES: the one before has crashed.
  void RestartWorker(std::uint32_t rank) { StartWorker(rank); }
  // Stops the process, as SIGSTOP does, until `until`: neither its timers nor what arrives for it is seen
  // before.
  void PauseWorker(std::uint32_t rank, Duration until);
  // Runs events until `done` (asked after each), or until none is left or virtual time passes `limit`. True:
  // done.
  bool RunUntil(const std::function<bool()>& done, Duration limit);
  // The scheduler and every shard have ended.
  [[nodiscard]] bool Ended() const;
  // What ended badly; empty when all is well so far.
  [[nodiscard]] std::vector<std::string> Problems() const;

  [[nodiscard]] std::uint32_t workers() const { return static_cast<std::uint32_t>(workers_.size()); }
  [[nodiscard]] WorkerNode& worker(std::uint32_t rank) { return *workers_[rank]->node; }
  // Timers and random bits of the process that a worker's node is in.
  [[nodiscard]] Env& worker_env(std::uint32_t rank) { return workers_[rank]->env->env(); }
  // The block, whichever shard owns it; null if none does.
  [[nodiscard]] const Block* FindBlock(BlockId id) const;
  [[nodiscard]] BlockCounters ServerCounters() const;  // summed over shards
  [[nodiscard]] const SchedulerNode& scheduler() const { return *scheduler_; }

  // Hosts: the scheduler's, then one per server (with all its shards), then one per worker.
  [[nodiscard]] static HostId scheduler_host() { return HostId(0); }
  [[nodiscard]] static HostId server_host(std::uint32_t server) { return HostId(1 + server); }
  [[nodiscard]] HostId worker_host(std::uint32_t rank) const {
    return HostId(1 + options_.job.servers + rank);
  }
  [[nodiscard]] Disk& disk(HostId host) {
    return options_.shared_disk != nullptr ? *options_.shared_disk : *disks_[host.index()];
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
  struct Shard {
    Shard(Cluster& cluster, HostId host, const std::string& name, std::uint64_t seed);
    SimEnv env;
    std::unique_ptr<ServerNode> node;
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

  [[nodiscard]] HostId AddHost();
  void StartScheduler();
  void StartShard(std::uint32_t server, std::uint32_t shard);
  void StartWorker(std::uint32_t rank);
  [[nodiscard]] AddressSource SchedulerAddress();
  void Report(const std::string& who, const Status& why);

  const ClusterOptions options_;
  const Policies policies_;
  EventQueue queue_;
  TraceHash trace_;
  LogRing ring_;
  SimNetwork network_;
  FaultPlan faults_;
  SeededRandom random_;
  std::vector<std::unique_ptr<Disk>> disks_;  // by HostId

  std::unique_ptr<SimEnv> scheduler_env_;
  std::unique_ptr<SchedulerNode> scheduler_;
  bool scheduler_up_ = false;
  bool scheduler_ended_ = false;
  std::vector<std::unique_ptr<Shard>> shards_;           // by ShardId
  std::vector<std::unique_ptr<WorkerProcess>> workers_;  // by rank
  std::function<void(std::uint32_t)> on_worker_;
  std::vector<std::string> problems_;
};

}  // namespace leeway::sim
