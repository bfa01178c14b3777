#include "sim/cluster.h"

#include <fmt/format.h>

#include <utility>

#include "base/errors.h"
#include "base/hash.h"

namespace leeway::sim {
namespace {

// Which stream of random bits; mixed with the seed of the cluster.
enum Stream : std::uint64_t { kNetwork = 1, kFaults, kStart, kScheduler, kShards = 1000, kWorkers = 2000 };

}  // namespace

void AddCounters(BlockCounters& sum, const BlockCounters& part) {
  sum.applied += part.applied;
  sum.summed += part.summed;
  sum.absent += part.absent;
  sum.late_dropped += part.late_dropped;
  sum.refused += part.refused;
  sum.repeated += part.repeated;
  sum.gaps += part.gaps;
  sum.fenced += part.fenced;
  sum.moved += part.moved;
  sum.windows += part.windows;
  sum.pulls += part.pulls;
  sum.answers += part.answers;
  sum.unchanged += part.unchanged;
  sum.delayed += part.delayed;
  sum.advances += part.advances;
  sum.steps += part.steps;
  sum.hyper_mismatches += part.hyper_mismatches;
  sum.overflowed += part.overflowed;
}

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
    : env(cluster.queue_, cluster.network_, host, cluster.ring_, name, seed) {}

Cluster::WorkerProcess::WorkerProcess(Cluster& in, HostId host, const std::string& its_name,
                                      std::uint64_t seed)
    : cluster(in), name(its_name), env(in.queue_, in.network_, host, in.ring_, its_name, seed) {}

void Cluster::WorkerProcess::OnFailed(const Status& why) { cluster.Report(name, why); }

Cluster::Cluster(const ClusterOptions& options)
    : options_(options),
      policies_(Policies::Builtin()),
      ring_(queue_),
      network_(queue_, options.network, Hash64({options.seed, kNetwork}), trace_),
      faults_(queue_, network_, options.fault_plan, Hash64({options.seed, kFaults})),
      random_(Hash64({options.seed, kStart})) {
  const JobOptions& job = options_.job;
  scheduler_env_ = std::make_unique<SimEnv>(queue_, network_, network_.AddHost(), ring_, "scheduler",
                                            Hash64({options.seed, kScheduler}));
  for (std::uint32_t server = 0; server < job.servers; ++server) {
    const HostId host = network_.AddHost();
    for (std::uint32_t shard = 0; shard < job.shards; ++shard) {
      shards_.push_back(std::make_unique<Shard>(*this, host, fmt::format("server {}.{}", server, shard),
                                                Hash64({options.seed, kShards + shards_.size()})));
    }
  }
  for (std::uint32_t rank = 0; rank < job.workers; ++rank) {
    workers_.push_back(std::make_unique<WorkerProcess>(
        *this, network_.AddHost(), fmt::format("worker {}", rank), Hash64({options.seed, kWorkers + rank})));
  }
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
  // Longer than all faults of a plan together: nobody is to be declared dead.
  options.suspect_after = std::chrono::milliseconds(1500);
  options.expel_after = std::chrono::seconds(3);
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
  WorkerOptions options;
  options.link = options_.link;
  options.job = options_.job.job;
  options.rank = rank;
  at.node = MakeWorker(options, at.env.env(), SchedulerAddress(), at);
  on_worker_(rank);
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
    if (shard->node != nullptr) AddCounters(sum, shard->node->counters());
  }
  return sum;
}

}  // namespace leeway::sim
