#include "sim/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/hash.h"
#include "sim/stream.h"

namespace leeway::sim {

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

namespace {

// Drawn from the seed, and short enough that the thousands of links that copy it allocate nothing for it.
ClusterOptions WithSecret(ClusterOptions options) {
  options.link.secret = fmt::format("{:015x}", Hash64({options.seed, StreamOf(Stream::kSecret)}) >> 4);
  return options;
}

}  // namespace

Cluster::WorkerProcess::WorkerProcess(Cluster& in, HostId its_host, std::uint32_t its_rank)
    : cluster(in), host(its_host), rank(its_rank) {}

void Cluster::WorkerProcess::OnFailed(const Status& why) {
  const auto& may_fail = cluster.options_.may_fail;
  if (!may_fail || !may_fail(rank, why)) cluster.Report(fmt::format("worker {}", rank), why);
}

Cluster::Cluster(const ClusterOptions& options)
    : options_(WithSecret(options)),
      policies_(options.policies),
      ring_(queue_),
      network_(queue_, options.network, Hash64({options.seed, StreamOf(Stream::kNetwork)}), trace_),
      other_(options.make_network ? options.make_network(queue_) : nullptr),
      faults_(queue_, network_, options.fault_plan, Hash64({options.seed, StreamOf(Stream::kFaults)})),
      random_(Hash64({options.seed, StreamOf(Stream::kStart)})) {
  const JobOptions& job = options_.job;
  (void)AddHost();  // the scheduler's
  for (std::uint32_t server = 0; server < job.servers; ++server) {
    (void)AddHost();
  }
  shards_.resize(std::size_t{job.servers} * job.shards);
  shard_lives_.resize(shards_.size());
  for (std::uint32_t rank = 0; rank < job.workers; ++rank) {
    workers_.push_back(std::make_unique<WorkerProcess>(*this, AddHost(), rank));
  }
}

HostId Cluster::AddHost() {
  disks_.push_back(std::make_unique<Disk>(options_.disk,
                                          Hash64({options_.seed, StreamOf(Stream::kDisks, disks_.size())})));
  return wires().AddHost();
}

Cluster::~Cluster() {
  // Destroys nodes before the Envs that they use.
  for (const auto& worker : workers_) worker->node.reset();
  for (const auto* lives : {&shards_, &usurped_}) {
    for (const auto& shard : *lives) {
      if (shard != nullptr) shard->node.reset();
    }
  }
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
  ++scheduler_lives_;
  scheduler_env_ = std::make_unique<SimEnv>(
      queue_, wires(), scheduler_host(), disk(scheduler_host()), ring_, "scheduler",
      scheduler_lives_ == 1 ? Hash64({options_.seed, StreamOf(Stream::kScheduler)})
                            : Hash64({options_.seed, StreamOf(Stream::kScheduler), scheduler_lives_}),
      SharedFolder(), CostsOf(scheduler_host()));
  SchedulerOptions options;
  options.job = options_.job;
  options.link = options_.link;
  options.listen = scheduler_address_.empty() ? "10.0.0.1:0" : scheduler_address_;
  options.suspect_after = options_.suspect_after;
  options.expel_after = options_.expel_after;
  options.gather_timeout = options_.gather_timeout;
  options.on_worker_loss = options_.on_worker_loss;
  options.min_workers = options_.min_workers;
  options.on_server_loss = options_.on_server_loss;
  options.checkpoint = options_.checkpoint;
  options.log_folder = options_.log_folder;
  scheduler_ended_ = false;
  scheduler_ = MakeScheduler(options, scheduler_env_->env(), policies_, [this](const Status& why) {
    scheduler_ended_ = true;
    if (!why.ok()) Report("scheduler", why);
  });
  const Status started = scheduler_->Start();
  if (!started.ok()) return Report("scheduler", started);
  scheduler_address_ = scheduler_->address();
}

void Cluster::CrashScheduler(Crash how) {
  scheduler_.reset();
  if (how == Crash::kPower) {
    disk(scheduler_host()).PowerLoss();
  } else {
    scheduler_env_->ProcessCrash();
  }
  scheduler_env_.reset();
}

void Cluster::RestartScheduler() { StartScheduler(); }

void Cluster::PauseScheduler(Duration until) {
  scheduler_env_->Pause(until);
  BlockInbound(scheduler_host(), until);
}

void Cluster::StartShard(std::uint32_t server, std::uint32_t shard) {
  const std::size_t index = ShardIndex(server, shard);
  const HostId host = server_host(server);
  const std::string name = fmt::format("server {}.{}", server, shard);
  const std::uint32_t life = ++shard_lives_[index];
  shards_[index] = std::make_unique<Shard>();
  Shard& at = *shards_[index];
  at.index = index;
  at.env =
      std::make_unique<SimEnv>(queue_, wires(), host, disk(host), ring_, name,
                               life == 1 ? Hash64({options_.seed, StreamOf(Stream::kShards, index)})
                                         : Hash64({options_.seed, StreamOf(Stream::kShards, index), life}),
                               SharedFolder(), CostsOf(host));
  ServerOptions options;
  options.link = options_.link;
  options.job = options_.job.job;
  options.listen = fmt::format("10.0.1.{}:0", server + 1);
  options.server = server;
  options.shard = shard;
  at.node = MakeServer(options, at.env->env(), policies_, SchedulerAddress(),
                       [this, &at, index, name, server](const Status& why) {
                         at.ended = true;
                         const bool usurped = shards_[index].get() != &at;
                         if (usurped && why.code() == StatusCode::kFenced) ++fenced_shards_;
                         // A process that starts after the job's end finds no peer. A process whose place is
                         // not free yet tries again.
                         const bool unavailable = why.code() == StatusCode::kUnavailable;
                         const bool too_late = unavailable && (scheduler_ended_ || IsTakenByAnother(index));
                         if (why.ok() || usurped || too_late) return;
                         const auto& may_fail = options_.server_may_fail;
                         if (!may_fail || !may_fail(server, why)) Report(name, why);
                       });
  const Status started = at.node->Start();
  if (!started.ok()) Report(name, started);
}

void Cluster::StartWorker(std::uint32_t rank) {
  WorkerProcess& at = *workers_[rank];
  ++at.lives;
  at.env = std::make_unique<SimEnv>(
      queue_, wires(), at.host, disk(at.host), ring_, fmt::format("worker {}", rank),
      at.lives == 1 ? Hash64({options_.seed, StreamOf(Stream::kWorkers, rank)})
                    : Hash64({options_.seed, StreamOf(Stream::kWorkers, rank), at.lives}),
      SharedFolder(), CostsOf(at.host));
  WorkerOptions options;
  options.link = options_.link;
  options.job = options_.job.job;
  options.rank = rank;
  options.keeps_state = options_.keeps_state;
  at.node = MakeWorker(options, at.env->env(), policies_, SchedulerAddress(), at);
  on_worker_(rank);
}

void Cluster::CrashWorker(std::uint32_t rank) {
  workers_[rank]->node.reset();
  workers_[rank]->env->ProcessCrash();
  workers_[rank]->env.reset();
}

void Cluster::PauseWorker(std::uint32_t rank, Duration until) {
  workers_[rank]->env->Pause(until);
  BlockInbound(workers_[rank]->host, until);
}

void Cluster::BlockInbound(HostId host, Duration until) {
  for (std::uint32_t from = 0; from < network_.hosts(); ++from) {
    if (HostId(from) != host) network_.impairments().Stall(HostId(from), host, until, FaultId{});
  }
}

void Cluster::CrashServer(std::uint32_t server) {
  for (std::uint32_t shard = 0; shard < options_.job.shards; ++shard) {
    std::unique_ptr<Shard>& at = shards_[ShardIndex(server, shard)];
    if (at == nullptr) continue;
    at->node.reset();
    at->env->ProcessCrash();
    at.reset();
  }
}

void Cluster::RestartServer(std::uint32_t server) {
  for (std::uint32_t shard = 0; shard < options_.job.shards; ++shard) StartShard(server, shard);
}

void Cluster::PauseServer(std::uint32_t server, Duration until) {
  for (std::uint32_t shard = 0; shard < options_.job.shards; ++shard) {
    if (const auto& at = shards_[ShardIndex(server, shard)]; at != nullptr) at->env->Pause(until);
  }
  BlockInbound(server_host(server), until);
}

void Cluster::UsurpServer(std::uint32_t server) {
  for (std::uint32_t shard = 0; shard < options_.job.shards; ++shard) {
    usurped_.push_back(std::move(shards_[ShardIndex(server, shard)]));
  }
  RestartServer(server);
}

bool Cluster::ServerIsUp(std::uint32_t server) const {
  for (std::uint32_t shard = 0; shard < options_.job.shards; ++shard) {
    const auto& at = shards_[ShardIndex(server, shard)];
    if (at == nullptr || at->node == nullptr || at->ended) return false;
  }
  return true;
}

AddressSource Cluster::SchedulerAddress() {
  return [this]() -> Result<std::string> {
    if (scheduler_address_.empty()) return Unavailable("the scheduler has not been started yet");
    return scheduler_address_;
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
  // Of several lives that asked for a place one got it; the others may still be asking.
  for (const auto& shard : shards_) {
    if (shard == nullptr || shard->ended) continue;
    const bool another = std::ranges::any_of(usurped_, [&shard](const auto& former) {
      return former != nullptr && former->index == shard->index && former->ended;
    });
    if (!another) return false;
  }
  return true;
}

bool Cluster::IsTakenByAnother(std::size_t index) const {
  return std::ranges::any_of(usurped_, [index](const auto& former) {
    return former != nullptr && former->index == index && !former->ended;
  });
}

bool Cluster::AnyServerGone() const {
  return std::ranges::any_of(shards_, [](const auto& shard) { return shard == nullptr; });
}

std::vector<std::string> Cluster::Problems() const { return problems_; }

const Block* Cluster::FindBlock(BlockId id) const {
  const Block* owned = nullptr;
  for (const auto* lives : {&shards_, &usurped_}) {
    for (const auto& shard : *lives) {
      if (shard == nullptr || shard->node == nullptr) continue;
      const Block* block = shard->node->FindBlock(id);
      if (block != nullptr && (owned == nullptr || block->term() > owned->term())) owned = block;
    }
  }
  return owned;
}

std::vector<std::vector<std::uint64_t>> Cluster::ElementsOfServers() const {
  std::vector<std::vector<std::uint64_t>> elements(options_.job.servers);
  for (std::uint32_t id = 0; FindBlock(BlockId(id)) != nullptr; ++id) {
    for (std::size_t shard = 0; shard < shards_.size(); ++shard) {
      if (shards_[shard] == nullptr || shards_[shard]->node == nullptr) continue;
      const Block* const block = shards_[shard]->node->FindBlock(BlockId(id));
      if (block != nullptr) elements[shard / options_.job.shards].push_back(block->values().size());
    }
  }
  return elements;
}

std::uint64_t Cluster::AnswersWithdrawn() const {
  std::uint64_t sum = 0;
  for (const auto& shard : shards_) {
    if (shard != nullptr && shard->node != nullptr) sum += shard->node->answers_withdrawn();
  }
  return sum;
}

BlockCounters Cluster::ServerCounters() const {
  BlockCounters sum;
  for (const auto& shard : shards_) {
    if (shard != nullptr && shard->node != nullptr) sum += shard->node->counters();
  }
  return sum;
}

}  // namespace leeway::sim
