#include "sim/cluster.h"

#include <fmt/format.h>

#include <utility>

#include "base/errors.h"
#include "base/hash.h"

namespace leeway::sim {
namespace {

// Which stream of random bits; mixed with the seed of the cluster.
enum Stream : std::uint64_t {
  kNetwork = 1,
  kFaults,
  kStart,
  kScheduler,
  kShards = 1000,
  kWorkers = 2000,
  kDisks = 3000
};

}  // namespace

LinkOptions ClusterOptions::QuickLinks() {
  LinkOptions link;
  link.beat = std::chrono::milliseconds(100);
  link.silence_max = std::chrono::milliseconds(400);
  link.hello_timeout = std::chrono::milliseconds(200);
  link.backoff_min = std::chrono::milliseconds(2);
  link.backoff_max = std::chrono::milliseconds(50);
  link.give_up_after = std::chrono::seconds(60);
  return link;
}

Cluster::Shard::Shard(Cluster& cluster, HostId host, const std::string& name, std::uint64_t seed)
    : env(cluster.queue_, cluster.network_, host, cluster.disk(host), cluster.ring_, name, seed) {}

Cluster::WorkerProcess::WorkerProcess(Cluster& in, HostId its_host, std::uint32_t its_rank)
    : cluster(in), host(its_host), rank(its_rank) {}

void Cluster::WorkerProcess::OnFailed(const Status& why) {
  const auto& may_fail = cluster.options_.may_fail;
  if (!may_fail || !may_fail(rank, why)) cluster.Report(fmt::format("worker {}", rank), why);
}

Cluster::Cluster(const ClusterOptions& options)
    : options_(options),
      policies_(Policies::Builtin()),
      ring_(queue_),
      network_(queue_, options.network, Hash64({options.seed, kNetwork}), trace_),
      faults_(queue_, network_, options.fault_plan, Hash64({options.seed, kFaults})),
      random_(Hash64({options.seed, kStart})) {
  const JobOptions& job = options_.job;
  const HostId first = AddHost();
  scheduler_env_ = std::make_unique<SimEnv>(queue_, network_, first, disk(first), ring_, "scheduler",
                                            Hash64({options.seed, kScheduler}));
  for (std::uint32_t server = 0; server < job.servers; ++server) {
    const HostId host = AddHost();
    for (std::uint32_t shard = 0; shard < job.shards; ++shard) {
      shards_.push_back(std::make_unique<Shard>(*this, host, fmt::format("server {}.{}", server, shard),
                                                Hash64({options.seed, kShards + shards_.size()})));
    }
  }
  for (std::uint32_t rank = 0; rank < job.workers; ++rank) {
    workers_.push_back(std::make_unique<WorkerProcess>(*this, AddHost(), rank));
  }
}

HostId Cluster::AddHost() {
  disks_.push_back(std::make_unique<Disk>(options_.disk, Hash64({options_.seed, kDisks + disks_.size()})));
  return network_.AddHost();
}

Cluster::~Cluster() {
  // Nodes before the Envs they use.
  for (const auto& worker : workers_) worker->node.reset();
  for (const auto& shard : shards_) shard->node.reset();
  scheduler_.reset();
}

void Cluster::Start(std::function<void(std::uint32_t)> on_worker) {
  on_worker_ = std::move(on_worker);
  const auto soon = [&] { return random_.Between(Duration::zero(), options_.start_spread); };
  queue_.After(soon(), [this] { StartScheduler(); });
  for (std::uint32_t server = 0; server < options_.job.servers; ++server) {
    for (std::uint32_t shard = 0; shard < options_.job.shards; ++shard) {
      queue_.After(soon(), [this, server, shard] { StartShard(server, shard); });
    }
  }
  for (std::uint32_t rank = 0; rank < options_.job.workers; ++rank) {
    queue_.After(soon(), [this, rank] { StartWorker(rank); });
  }
  if (options_.faults) faults_.Start();
}

void Cluster::StartScheduler() {
  SchedulerOptions options;
  options.job = options_.job;
  options.link = options_.link;
  options.listen = "10.0.0.1:0";
  options.suspect_after = options_.suspect_after;
  options.expel_after = options_.expel_after;
  options.on_worker_loss = options_.on_worker_loss;
  options.min_workers = options_.min_workers;
  options.checkpoint = options_.checkpoint;
  scheduler_ = MakeScheduler(options, scheduler_env_->env(), policies_, [this](const Status& why) {
    scheduler_ended_ = true;
    if (!why.ok()) Report("scheduler", why);
  });
  const Status started = scheduler_->Start();
  if (!started.ok()) return Report("scheduler", started);
  scheduler_up_ = true;
}

void Cluster::StartShard(std::uint32_t server, std::uint32_t shard) {
  const std::size_t index = server * options_.job.shards + shard;
  Shard& at = *shards_[index];
  ServerOptions options;
  options.link = options_.link;
  options.job = options_.job.job;
  options.listen = fmt::format("10.0.1.{}:0", server + 1);
  options.server = server;
  options.shard = shard;
  const std::string name = fmt::format("server {}.{}", server, shard);
  at.node =
      MakeServer(options, at.env.env(), policies_, SchedulerAddress(), [this, &at, name](const Status& why) {
        at.ended = true;
        if (!why.ok()) Report(name, why);
      });
  const Status started = at.node->Start();
  if (!started.ok()) Report(name, started);
}

void Cluster::StartWorker(std::uint32_t rank) {
  WorkerProcess& at = *workers_[rank];
  ++at.lives;
  at.env = std::make_unique<SimEnv>(queue_, network_, at.host, disk(at.host), ring_,
                                    fmt::format("worker {}", rank),
                                    at.lives == 1 ? Hash64({options_.seed, kWorkers + rank})
                                                  : Hash64({options_.seed, kWorkers + rank, at.lives}));
  WorkerOptions options;
  options.link = options_.link;
  options.job = options_.job.job;
  options.rank = rank;
  at.node = MakeWorker(options, at.env->env(), SchedulerAddress(), at);
  on_worker_(rank);
}

void Cluster::CrashWorker(std::uint32_t rank) {
  workers_[rank]->node.reset();
  workers_[rank]->env->ProcessCrash();
  workers_[rank]->env.reset();
}

void Cluster::PauseWorker(std::uint32_t rank, Duration until) {
  WorkerProcess& at = *workers_[rank];
  at.env->Pause(until);
  for (std::uint32_t host = 0; host < network_.hosts(); ++host) {
    if (HostId(host) != at.host) network_.Block(HostId(host), at.host, until, FaultId{});
  }
}

AddressSource Cluster::SchedulerAddress() {
  return [this]() -> Result<std::string> {
    if (!scheduler_up_) return Unavailable("the scheduler has not been started yet");
    return scheduler_->address();
  };
}

void Cluster::Report(const std::string& who, const Status& why) {
  problems_.push_back(fmt::format("{} failed: {}", who, why.ToString()));
}

bool Cluster::RunUntil(const std::function<bool()>& done, Duration limit) {
  while (!done()) {
    if (queue_.next() > limit || !queue_.RunOne()) return false;
  }
  return true;
}

bool Cluster::Ended() const {
  if (!scheduler_ended_) return false;
  for (const auto& shard : shards_) {
    if (!shard->ended) return false;
  }
  return true;
}

std::vector<std::string> Cluster::Problems() const { return problems_; }

const Block* Cluster::FindBlock(BlockId id) const {
  for (const auto& shard : shards_) {
    if (shard->node == nullptr) continue;
    if (const Block* block = shard->node->FindBlock(id)) return block;
  }
  return nullptr;
}

BlockCounters Cluster::ServerCounters() const {
  BlockCounters sum;
  for (const auto& shard : shards_) {
    if (shard->node != nullptr) sum += shard->node->counters();
  }
  return sum;
}

}  // namespace leeway::sim
