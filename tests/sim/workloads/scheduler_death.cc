#include "sim/workloads/scheduler_death.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/hash.h"
#include "checkpoint/layout.h"
#include "node/scheduler/log_file.h"
#include "node/scheduler/scheduler_log.h"
#include "sim/cluster.h"
#include "sim/run_to_end.h"
#include "sim/workloads/death_books.h"
#include "sim/workloads/drawn_job.h"

namespace leeway::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::uint32_t kOwnTable = 2;  // has a clock of its own
constexpr std::uint64_t kDeathPlanStream = 51, kDeathLifeStream = 52, kSharedStream = 53;

constexpr DrawnSync kDeathSyncs[] = {
    {"bsp", "aggregate"},   {"bsp", "immediate"},   {"asp", "immediate"},
    {"ssp:2", "immediate"}, {"ssp:2", "aggregate"},
};

DeathPlan MakeDeathPlan(const SchedulerDeathOptions& given, SeededRandom& random) {
  DeathPlan plan;
  plan.job = DrawJob("death", kDeathSyncs, given.sync, given.seed, kDeathLives, random);
  plan.iterations = static_cast<std::int64_t>(random.Between(30, 100));
  plan.batches = random.Between(20, 200);
  plan.deaths = static_cast<std::uint32_t>(random.Chance(0.1) ? random.Between(5, 15) : random.Between(1, 4));
  plan.power = random.Chance(0.5);
  plan.kills = random.Chance(0.5) ? static_cast<std::uint32_t>(random.Between(1, 2)) : 0;
  plan.network_faults = given.faults && random.Chance(0.3);
  if (random.Chance(0.5)) {
    plan.checkpoint.folder = kDeathCheckpoints;
    plan.checkpoint.every_iterations = random.Between(3, 20);
    plan.checkpoint.keep = 1000;
    plan.own_table = random.Chance(0.3);  // with one, no checkpoint is a consistent cut
  }
  // So slow that a crash often falls into a write.
  if (random.Chance(0.6)) plan.disk_slow = static_cast<double>(random.Between(1, 60));
  return plan;
}

// One life of one rank.
class DeathLife final : public WorkloadPart {
 public:
  DeathLife(Cluster& cluster, const DeathPlan& plan, std::uint64_t seed, DeathBooks& books,
            std::uint32_t rank)
      : plan_(plan),
        books_(books),
        rank_(rank),
        life_(static_cast<std::uint32_t>(books.lives[rank].size())),
        node_(cluster.worker(rank)),
        env_(cluster.worker_env(rank)),
        random_(Hash64({seed, kDeathLifeStream, rank, life_})) {
    books.lives[rank].emplace_back();
  }

  void Begin() override {
    node_.Join([this](const Status& status) {
      if (life_ > 0 && status.code() == StatusCode::kFailedPrecondition) return;  // the others have ended
      Then("join", [this] { MakeTables(); })(status);
    });
  }
  [[nodiscard]] bool done() const override { return done_; }
  [[nodiscard]] std::string Where() const override {
    return fmt::format("worker {} life {} in iteration {}: {}; its node waits for: {}", rank_, life_,
                       node_.iteration().value(), at_, node_.WaitingFor());
  }
  // Its node has failed. Returns whether that was expected.
  bool Failed(const Status& why) {
    done_ = true;
    return life_ > 0 && why.code() == StatusCode::kFailedPrecondition && at_ == kDeathJoining;
  }

 private:
  static constexpr const char* kDeathJoining = "joining";

  [[nodiscard]] Done Then(const char* what, std::function<void()> next) {
    return [this, what, next = std::move(next)](const Status& status) {
      if (status.ok()) return next();
      books_.problems.push_back(
          fmt::format("worker {} life {}: {}: {}", rank_, life_, what, status.ToString()));
    };
  }
  [[nodiscard]] DeathBook& book() { return books_.lives[rank_][life_]; }

  bool AddTable(std::uint32_t table) {
    TableSpec spec;
    spec.name = fmt::format("table{}", table);
    spec.shape = {plan_.job.workers * kDeathLives * (1 + table)};
    spec.optimizer = "sum";
    if (table == kOwnTable) {
      spec.clock = TableClock::kOwn;
      spec.sync = "asp";
      spec.apply = "immediate";
    }
    pairs_.push_back(std::make_unique<ParameterPair>(spec.elements(), nullptr, nullptr));
    const Result<TableId> made = node_.CreateTable(spec, *pairs_.back());
    if (!made.ok()) books_.problems.push_back(made.status().ToString());
    return made.ok();
  }
  void Offer(std::uint32_t table) {
    auto zeros = std::make_shared<std::vector<float>>(pairs_[table]->elements(), 0.0F);
    const std::span<const float> values = *zeros;
    node_.Broadcast(TableId(table), values, std::move(zeros), Then("broadcast", [] {}));
  }

  void MakeTables() {
    at_ = "starting";
    books_.joined = true;
    if (node_.iteration() > Iteration(0)) ++books_.counts.joined_late;
    node_.SetVerdictObserver(
        [this](TableId table, BlockId block, Seq, Iteration, wire::Verdict verdict, Iteration) {
          if (verdict == wire::Verdict::kApplied || verdict == wire::Verdict::kSummed) {
            ++book().taken[{table.value(), block}];
          } else if (verdict != wire::Verdict::kAbsent) {
            books_.problems.push_back(fmt::format("worker {} life {}: verdict {} for a good push", rank_,
                                                  life_, static_cast<int>(verdict)));
          }
        });
    if (!AddTable(0) || !AddTable(1)) return;
    node_.Start(Then("start", [this] {
      Offer(0);
      Offer(1);
      Iterate();
    }));
  }

  void Iterate() {
    if (plan_.own_table && !has_own_ && node_.iteration().value() >= plan_.iterations / 2)
      return MakeOwnTable();
    if (node_.iteration().value() >= plan_.iterations) return Lease(true);
    at_ = "waiting for values";
    node_.Sync(TableId(0),
               Then("use", [this] { node_.Sync(TableId(1), Then("use", [this] { Compute(); })); }));
  }

  void MakeOwnTable() {
    at_ = "making a table";
    has_own_ = true;
    if (!AddTable(kOwnTable)) return;
    node_.Start(Then("start", [this] {
      Offer(kOwnTable);
      Iterate();
    }));
  }

  void Compute() {
    at_ = "computing";
    for (const std::uint32_t table : {0U, 1U}) {
      while (!pairs_[table]->Take()) {
      }
    }
    (void)env_.timers.After(random_.Between(Duration::zero(), milliseconds(8)), [this] { PushAll(); });
  }

  void PushAll() {
    Push(0);
    if (!random_.Chance(0.1)) Push(1);
    if (has_own_ && random_.Chance(0.3)) Push(kOwnTable);
    const Status ended = node_.Clock();
    if (!ended.ok()) return books_.problems.push_back(ended.ToString());
    const std::int64_t iteration = node_.iteration().value();
    // If the model skips iterations, no worker may stand still for the others.
    if (iteration % 8 == 0 && node_.MayMeet("the workload").ok()) {
      at_ = "at a barrier";
      return node_.Barrier("every8", Then("barrier", [this] { Iterate(); }));
    }
    if (iteration % 3 == 0) return Lease(false);
    Iterate();
  }

  void Push(std::uint32_t table) {
    auto values = std::make_shared<std::vector<float>>(pairs_[table]->elements(), 0.0F);
    const std::size_t cells = plan_.job.workers * kDeathLives;
    for (std::size_t at = rank_ * kDeathLives + life_; at < values->size(); at += cells) (*values)[at] = 1.0F;
    LentGradient gradient;
    gradient.values = *values;
    gradient.pin = std::move(values);
    ++book().pushed[table];
    const Status pushed = table == kOwnTable
                              ? node_.Push(TableId(table), std::move(gradient), Then("push", [] {}))
                              : node_.Push(TableId(table), std::move(gradient), Then("push", [] {}));
    if (!pushed.ok()) books_.problems.push_back(pushed.ToString());
  }

  // At the end it leases until the pool is empty.
  void Lease(bool last) {
    at_ = "leasing";
    node_.LeaseBatches("work", plan_.batches, 3, {},
                       [this, last](const Status& status, const BatchLease& lease) {
                         if (!status.ok()) return Then("lease", [] {})(status);
                         for (const std::uint64_t batch : lease.batches) ++books_.batches[batch];
                         if (!last) return Iterate();
                         if (lease.batches.empty()) return Leave();
                         (void)env_.timers.After(milliseconds(1), [this] { Lease(true); });
                       });
  }

  void Leave() {
    at_ = "leaving";
    if (!std::exchange(books_.leaving, true)) books_.on_leaving();
    node_.Leave(Then("leave", [this] {
      at_ = "finishing";
      node_.Finish(Then("finish", [this] {
        node_.Shutdown(Then("shutdown", [this] {
          book().ended_well = true;
          at_ = "done";
          done_ = true;
        }));
      }));
    }));
  }

  const DeathPlan& plan_;
  DeathBooks& books_;
  const std::uint32_t rank_;
  const std::uint32_t life_;
  WorkerNode& node_;
  Env& env_;
  SeededRandom random_;
  std::vector<std::unique_ptr<ParameterPair>> pairs_;
  const char* at_ = kDeathJoining;
  bool has_own_ = false;
  bool done_ = false;
};

// Kills the scheduler and workers, restarts them, and disturbs the scheduler's disk, at drawn times.
class Doom {
 public:
  Doom(Cluster& cluster, const DeathPlan& plan, SeededRandom& random, DeathBooks& books,
       std::vector<std::unique_ptr<WorkloadPart>>& parts)
      : cluster_(cluster), plan_(plan), random_(random), books_(books), parts_(parts) {}

  void Start() {
    disk().set_slow(plan_.disk_slow);
    for (std::uint32_t i = 0; i < plan_.deaths; ++i) {
      // Early crashes fall into the gathering and the making of tables.
      const bool early = random_.Chance(0.4);
      At(early ? milliseconds(30) : milliseconds(900), [this] { StrikeScheduler(); });
    }
    for (std::uint32_t i = 0; i < plan_.kills; ++i) At(milliseconds(500), [this] { StrikeWorker(); });
    books_.on_leaving = [this] {
      if (random_.Chance(0.4)) At(milliseconds(60), [this] { StrikeScheduler(); });
    };
    if (random_.Chance(0.3)) At(milliseconds(500), [this] { Fill(); });
    if (random_.Chance(0.3)) At(milliseconds(500), [this] { SlowDown(); });
  }

 private:
  Disk& disk() { return cluster_.disk(Cluster::scheduler_host()); }
  void At(Duration within, std::function<void()> deed) {
    cluster_.queue().After(random_.Between(Duration::zero(), within), std::move(deed));
  }
  [[nodiscard]] std::uint64_t Taken() const {
    const BlockCounters counters = cluster_.ServerCounters();
    return counters.applied + counters.summed;
  }

  void StrikeScheduler() {
    const bool power = plan_.power && random_.Chance(0.5);
    const Duration down = random_.Chance(0.7) ? random_.Between(microseconds(100), milliseconds(300))
                                              : random_.Between(milliseconds(300), milliseconds(5000));
    if (!cluster_.scheduler_up()) return;
    ++(power ? books_.counts.power_losses : books_.counts.process_crashes);
    if (!books_.joined) ++books_.counts.while_gathering;
    if (books_.leaving) ++books_.counts.while_ending;
    cluster_.CrashScheduler(power ? Cluster::Crash::kPower : Cluster::Crash::kProcess);
    cluster_.queue().After(down, [this, before = Taken()] {
      ++books_.counts.restarts;
      books_.counts.pushes_meanwhile += Taken() - before;
      LookAtLog();
      cluster_.RestartScheduler();
      // The next scheduler may die before it has read the log, or rewritten it.
      if (random_.Chance(0.25)) At(milliseconds(5), [this] { StrikeScheduler(); });
    });
  }
  void LookAtLog() {
    const auto bytes = disk().Read(JoinPath(kDeathLogs, kLogName), 0, 1U << 30);
    if (!bytes.ok()) return;
    const Result<DecodedLog> log = DecodeLog(*bytes);
    if (!log.ok()) return books_.problems.push_back(fmt::format("the log: {}", log.status().ToString()));
    if (!log->torn.empty()) ++books_.counts.torn_logs;
  }

  void StrikeWorker() {
    const auto rank = static_cast<std::uint32_t>(random_.Below(plan_.job.workers));
    const Duration down = random_.Between(milliseconds(1), milliseconds(1200));
    if (rank >= parts_.size() || parts_[rank] == nullptr || parts_[rank]->done()) return;
    if (books_.lives[rank].size() >= kDeathLives) return;
    ++books_.counts.worker_kills;
    parts_[rank].reset();
    cluster_.CrashWorker(rank);
    cluster_.queue().After(down, [this, rank] { cluster_.RestartWorker(rank); });
  }

  void Fill() {
    disk().set_capacity_bytes(disk().bytes() + random_.Below(500));
    cluster_.queue().After(random_.Between(milliseconds(5), milliseconds(800)),
                           [this] { disk().set_capacity_bytes(~0ULL); });
  }
  void SlowDown() {
    disk().set_slow(static_cast<double>(random_.Between(100, 1000)));
    cluster_.queue().After(random_.Between(milliseconds(5), milliseconds(800)),
                           [this] { disk().set_slow(plan_.disk_slow); });
  }

  Cluster& cluster_;
  const DeathPlan& plan_;
  SeededRandom& random_;
  DeathBooks& books_;
  std::vector<std::unique_ptr<WorkloadPart>>& parts_;
};

}  // namespace

SchedulerDeathCounts& SchedulerDeathCounts::operator+=(const SchedulerDeathCounts& other) {
  process_crashes += other.process_crashes;
  power_losses += other.power_losses;
  restarts += other.restarts;
  while_gathering += other.while_gathering;
  while_ending += other.while_ending;
  torn_logs += other.torn_logs;
  pushes_meanwhile += other.pushes_meanwhile;
  worker_kills += other.worker_kills;
  joined_late += other.joined_late;
  full_answers += other.full_answers;
  checkpoints += other.checkpoints;
  consistent += other.consistent;
  repeated_batches += other.repeated_batches;
  return *this;
}

std::string SchedulerDeathReport::Failure() const { return FailureText(problems, replay, log); }

SchedulerDeathReport RunSchedulerDeath(const SchedulerDeathOptions& given) {
  SeededRandom random(Hash64({given.seed, kDeathPlanStream}));
  const DeathPlan plan = MakeDeathPlan(given, random);
  DeathBooks books(plan);
  std::vector<std::unique_ptr<WorkloadPart>> parts;

  Disk shared({}, Hash64({given.seed, kSharedStream}));
  ClusterOptions options;
  options.seed = given.seed;
  options.job = plan.job;
  options.faults = plan.network_faults;
  options.checkpoint = plan.checkpoint;
  options.shared_disk = &shared;
  options.shared_folder = kDeathCheckpoints;
  options.log_folder = kDeathLogs;
  options.min_workers = 1;
  options.may_fail = [&](std::uint32_t rank, const Status& why) {
    return static_cast<DeathLife&>(*parts[rank]).Failed(why);
  };
  Cluster cluster(options);
  Doom doom(cluster, plan, random, books, parts);
  doom.Start();
  RunToEnd(
      cluster, parts,
      [&](std::uint32_t rank) { return std::make_unique<DeathLife>(cluster, plan, given.seed, books, rank); },
      books.problems, std::chrono::seconds(60));
  const Disk& disk = cluster.disk(Cluster::scheduler_host());
  if (books.problems.empty()) CheckDeathBooks(cluster, shared, plan, books);

  SchedulerDeathReport report;
  report.replay = fmt::format("build/tests/sim/leeway_workload scheduler-death --seed {}", given.seed);
  if (!given.sync.empty()) report.replay += fmt::format(" --sync {}", given.sync);
  if (!given.faults) report.replay += " --no-faults";
  report.problems = books.problems;
  if (!report.ok()) report.log = cluster.Log();
  report.trace_hash = cluster.trace().value();
  report.frames = cluster.trace().frames();
  report.counts = books.counts;
  report.counts.full_answers = disk.counters().full_answers;
  return report;
}

}  // namespace leeway::sim
