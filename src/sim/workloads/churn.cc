#include "sim/workloads/churn.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/hash.h"
#include "sim/cluster.h"
#include "sim/workloads/run_to_end.h"

namespace leeway::sim {
namespace {

using std::chrono::milliseconds;

// Cells per rank: one for each life. A rank that has used them up is not killed any more.
constexpr std::uint32_t kLivesMax = 6;
constexpr std::uint32_t kChurnTables = 3;
constexpr std::uint32_t kOwnClock = 2;  // the last table has a clock of its own
constexpr std::uint64_t kPlanStream = 41, kLifeStream = 42;

struct ChurnSync {
  const char* sync;
  const char* apply;
};
constexpr ChurnSync kChurnSyncs[] = {
    {"bsp", "aggregate"},   {"bsp", "aggregate:reduce=ordered"},
    {"bsp", "immediate"},   {"asp", "immediate"},
    {"ssp:1", "immediate"}, {"ssp:3", "immediate"},
    {"ssp:2", "aggregate"},
};

struct ChurnPlan {
  JobOptions job;
  std::int64_t iterations = 0;  // lives end when the job's clock is here
  std::uint32_t deeds = 0;      // kills and stops
  OnWorkerLoss on_worker_loss = OnWorkerLoss::kShrink;
};

ChurnPlan MakePlan(const ChurnOptions& given, SeededRandom& random) {
  ChurnPlan plan;
  const ChurnSync choice = kChurnSyncs[random.Below(std::size(kChurnSyncs))];
  plan.job.job = "churn";
  plan.job.workers = static_cast<std::uint32_t>(random.Between(2, 4));
  plan.job.servers = static_cast<std::uint32_t>(random.Between(1, 2));
  plan.job.shards = static_cast<std::uint32_t>(random.Between(1, 2));
  plan.job.sync = given.sync.empty() ? choice.sync : given.sync;
  plan.job.apply = given.sync.empty() ? choice.apply : "";
  plan.job.seed = given.seed;
  plan.job.block_bytes = plan.job.workers * kLivesMax * sizeof(float);
  plan.iterations = static_cast<std::int64_t>(random.Between(60, 120));
  plan.deeds = static_cast<std::uint32_t>(random.Between(1, 5));
  plan.on_worker_loss = random.Chance(0.3) ? OnWorkerLoss::kWait : OnWorkerLoss::kShrink;
  return plan;
}

// What the books say of one life of one rank.
struct LifeBook {
  std::map<std::pair<std::uint32_t, BlockId>, std::uint64_t> taken;  // by table and block: APPLIED and SUMMED
  std::vector<std::uint64_t> pushed = std::vector<std::uint64_t>(kChurnTables);  // by table
  bool ended_well = false;
};

struct Books {
  explicit Books(std::uint32_t workers) : lives(workers) {}
  std::vector<std::vector<LifeBook>> lives;  // by rank, then by life
  std::vector<std::string> problems;
  ChurnCounts counts;
};

// One life of one rank: joins, pushes in every iteration, and leaves when the job's clock says so.
class ChurnLife final : public WorkloadPart {
 public:
  ChurnLife(Cluster& cluster, const ChurnPlan& plan, std::uint64_t seed, Books& books, std::uint32_t rank)
      : plan_(plan),
        books_(books),
        rank_(rank),
        life_(static_cast<std::uint32_t>(books.lives[rank].size())),
        node_(cluster.worker(rank)),
        env_(cluster.worker_env(rank)),
        random_(Hash64({seed, kLifeStream, rank, life_})) {
    books.lives[rank].emplace_back();
  }

  void Begin() override {
    node_.Join([this](const Status& status) {
      // The others may have ended the job while this one was being started.
      if (status.code() == StatusCode::kFailedPrecondition) return;
      Then("join", [this] { MakeTables(); })(status);
    });
  }
  [[nodiscard]] bool done() const override { return done_; }
  [[nodiscard]] std::string Where() const override {
    return fmt::format("worker {} life {} in iteration {}: {}; its node waits for: {}", rank_, life_,
                       node_.iteration().value(), at_, node_.WaitingFor());
  }
  // Its node has failed. True: that was to be expected.
  bool Failed(const Status& why, bool job_over) {
    fenced_ = why.code() == StatusCode::kFenced;
    done_ = !fenced_;
    // One that came too late, or was stopped until all was over, finds nobody.
    const bool too_late = why.code() == StatusCode::kFailedPrecondition && at_ == kJoining;
    return fenced_ || too_late || (why.code() == StatusCode::kUnavailable && job_over);
  }
  [[nodiscard]] bool fenced() const { return fenced_; }

 private:
  static constexpr const char* kJoining = "joining";

  // A failure of the node ends all its calls; what it means is judged in Failed.
  [[nodiscard]] Done Then(const char* what, std::function<void()> next) {
    return [this, what, next = std::move(next)](const Status& status) {
      if (status.ok()) return next();
      if (status.code() == StatusCode::kFenced || status.code() == StatusCode::kUnavailable) return;
      books_.problems.push_back(
          fmt::format("worker {} life {}: {}: {}", rank_, life_, what, status.ToString()));
    };
  }
  [[nodiscard]] LifeBook& book() { return books_.lives[rank_][life_]; }

  void MakeTables() {
    at_ = "starting";
    if (node_.iteration() > Iteration(0)) ++books_.counts.joined_late;
    node_.SetVerdictObserver([this](TableId table, BlockId block, Seq, Iteration, wire::Verdict verdict) {
      if (verdict == wire::Verdict::kApplied || verdict == wire::Verdict::kSummed) {
        ++book().taken[{table.value(), block}];
      } else if (verdict != wire::Verdict::kAbsent) {
        books_.problems.push_back(fmt::format("worker {} life {}: verdict {} for a good push in iteration {}",
                                              rank_, life_, static_cast<int>(verdict),
                                              node_.iteration().value()));
      }
    });
    const std::int64_t cells = plan_.job.workers * kLivesMax;
    for (std::uint32_t table = 0; table < kChurnTables; ++table) {
      TableSpec spec;
      spec.name = fmt::format("table{}", table);
      spec.shape = {cells * (1 + table)};
      spec.optimizer = "sum";
      if (table == kOwnClock) {
        spec.clock = TableClock::kOwn;
        spec.sync = "asp";
        spec.apply = "immediate";
      }
      pairs_.push_back(std::make_unique<ParameterPair>(spec.elements(), nullptr, nullptr));
      const Result<TableId> made = node_.CreateTable(spec, *pairs_.back());
      if (!made.ok()) return books_.problems.push_back(made.status().ToString());
    }
    node_.Start(Then("start", [this] {
      for (std::uint32_t table = 0; table < kChurnTables; ++table) {
        auto zeros = std::make_shared<std::vector<float>>(pairs_[table]->elements(), 0.0F);
        const std::span<const float> values = *zeros;
        node_.Broadcast(TableId(table), values, std::move(zeros), Then("broadcast", [] {}));
      }
      Iterate();
    }));
  }

  void Iterate() {
    if (node_.iteration().value() >= plan_.iterations) return Leave();
    at_ = "waiting for values";
    node_.WhenUsable(TableId(0), Then("use", [this] {
                       node_.WhenUsable(TableId(1), Then("use", [this] { Compute(); }));
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
    const bool skip = random_.Chance(0.1);  // one table has no gradient now and then
    Push(0);
    if (!skip) Push(1);
    if (random_.Chance(0.3)) Push(kOwnClock);
    const Status ended = node_.EndIteration();
    if (!ended.ok()) return books_.problems.push_back(ended.ToString());
    if (node_.iteration().value() % 16 != 0) return Iterate();
    at_ = "at a barrier";
    node_.Barrier("every16", Then("barrier", [this] { Iterate(); }));
  }

  void Push(std::uint32_t table) {
    auto values = std::make_shared<std::vector<float>>(pairs_[table]->elements(), 0.0F);
    const std::size_t cells = plan_.job.workers * kLivesMax;
    for (std::size_t at = rank_ * kLivesMax + life_; at < values->size(); at += cells) (*values)[at] = 1.0F;
    LentGradient gradient;
    gradient.values = *values;
    gradient.pin = std::move(values);
    ++book().pushed[table];
    const Status pushed = table == kOwnClock
                              ? node_.PushOwn(TableId(table), std::move(gradient), Then("push", [] {}))
                              : node_.GradientReady(TableId(table), std::move(gradient), Then("push", [] {}));
    if (!pushed.ok()) books_.problems.push_back(pushed.ToString());
  }

  void Leave() {
    at_ = "leaving";
    node_.Leave(Then("leave", [this] {
      at_ = "finishing";
      node_.Finish(Then("finish", [this] {
        node_.Shutdown(Then("shutdown", [this] {
          book().ended_well = true;
          ++books_.counts.left;
          at_ = "done";
          done_ = true;
        }));
      }));
    }));
  }

  const ChurnPlan& plan_;
  Books& books_;
  const std::uint32_t rank_;
  const std::uint32_t life_;
  WorkerNode& node_;
  Env& env_;
  SeededRandom random_;
  std::vector<std::unique_ptr<ParameterPair>> pairs_;
  const char* at_ = kJoining;
  bool done_ = false;
  bool fenced_ = false;
};

// Kills, stops and starts workers at drawn times.
class Reaper {
 public:
  Reaper(Cluster& cluster, const ChurnPlan& plan, SeededRandom& random, Books& books,
         std::vector<std::unique_ptr<WorkloadPart>>& parts)
      : cluster_(cluster), plan_(plan), random_(random), books_(books), parts_(parts) {}

  void Start() {
    for (std::uint32_t i = 0; i < plan_.deeds; ++i) {
      cluster_.queue().After(random_.Between(milliseconds(20), milliseconds(700)), [this] { Strike(); });
    }
  }
  // A life was told that it is over: its process ends and another is started.
  void OnFenced(std::uint32_t rank) {
    ++books_.counts.fenced;
    cluster_.queue().After(Duration::zero(), [this, rank] { Replace(rank); });
  }

 private:
  void Strike() {
    const auto rank = static_cast<std::uint32_t>(random_.Below(plan_.job.workers));
    const bool kill = random_.Chance(0.5);
    const Duration pause = random_.Between(milliseconds(50), milliseconds(2500));
    if (rank >= parts_.size() || parts_[rank] == nullptr || parts_[rank]->done()) return;
    if (books_.lives[rank].size() >= kLivesMax) return;
    if (kill) {
      ++books_.counts.crashes;
      return Replace(rank);
    }
    ++books_.counts.pauses;
    cluster_.PauseWorker(rank, cluster_.queue().now() + pause);
  }
  void Replace(std::uint32_t rank) {
    if (parts_[rank] == nullptr || books_.lives[rank].size() >= kLivesMax) return;
    parts_[rank].reset();
    cluster_.CrashWorker(rank);
    cluster_.queue().After(random_.Between(milliseconds(1), milliseconds(1200)), [this, rank] {
      ++books_.counts.restarts;
      cluster_.RestartWorker(rank);
    });
  }

  Cluster& cluster_;
  const ChurnPlan& plan_;
  SeededRandom& random_;
  Books& books_;
  std::vector<std::unique_ptr<WorkloadPart>>& parts_;
};

// Every cell of every block holds what the books of its life allow.
void CheckCells(const Cluster& cluster, const ChurnPlan& plan, Books& books) {
  const std::size_t cells = plan.job.workers * kLivesMax;
  std::uint32_t next = 0;
  for (std::uint32_t table = 0; table < kChurnTables; ++table) {
    // As many blocks as multiples of the cells: each block is one of them.
    for (std::uint32_t i = 0; i < 1 + table; ++i) {
      const BlockId id(next++);
      const Block* block = cluster.FindBlock(id);
      if (block == nullptr || block->values().size() != cells) {
        return books.problems.push_back(fmt::format("block {}: no values at the end", id.value()));
      }
      for (std::uint32_t rank = 0; rank < plan.job.workers; ++rank) {
        for (std::uint32_t life = 0; life < kLivesMax; ++life) {
          const float held = block->values()[rank * kLivesMax + life];
          const bool lived = life < books.lives[rank].size();
          const LifeBook none;
          const LifeBook& book = lived ? books.lives[rank][life] : none;
          const auto found = book.taken.find({table, id});
          const std::uint64_t least = found == book.taken.end() ? 0 : found->second;
          const std::uint64_t most = book.ended_well ? least : book.pushed[table];
          books.counts.uncertain += most - least;
          if (held >= static_cast<float>(least) && held <= static_cast<float>(most)) {
            books.counts.uncertain_taken += static_cast<std::uint64_t>(held) - least;
            continue;
          }
          books.problems.push_back(
              fmt::format("table {} block {}: {} pushes of worker {} life {} are in it, wanted {} "
                          "to {}",
                          table, id.value(), held, rank, life, least, most));
        }
      }
    }
  }
}

}  // namespace

ChurnCounts& ChurnCounts::operator+=(const ChurnCounts& other) {
  crashes += other.crashes;
  pauses += other.pauses;
  restarts += other.restarts;
  fenced += other.fenced;
  joined_late += other.joined_late;
  left += other.left;
  uncertain += other.uncertain;
  uncertain_taken += other.uncertain_taken;
  return *this;
}

std::string ChurnReport::Failure() const { return FailureText(problems, replay, log); }

ChurnReport RunChurn(const ChurnOptions& given) {
  SeededRandom random(Hash64({given.seed, kPlanStream}));
  const ChurnPlan plan = MakePlan(given, random);
  Books books(plan.job.workers);
  std::vector<std::unique_ptr<WorkloadPart>> parts;
  Reaper* reaper_at = nullptr;
  Cluster* cluster_at = nullptr;

  ClusterOptions options;
  options.seed = given.seed;
  options.job = plan.job;
  options.faults = given.faults;
  options.link.give_up_after = std::chrono::seconds(10);
  options.suspect_after = milliseconds(300);
  options.expel_after = milliseconds(1200);
  options.on_worker_loss = plan.on_worker_loss;
  options.min_workers = 1;
  options.may_fail = [&](std::uint32_t rank, const Status& why) {
    auto& life = static_cast<ChurnLife&>(*parts[rank]);
    const bool expected = life.Failed(why, cluster_at->Ended());
    if (life.fenced()) reaper_at->OnFenced(rank);
    return expected;
  };
  Cluster cluster(options);
  Reaper reaper(cluster, plan, random, books, parts);
  reaper_at = &reaper;
  cluster_at = &cluster;
  reaper.Start();
  RunToEnd(
      cluster, parts,
      [&](std::uint32_t rank) { return std::make_unique<ChurnLife>(cluster, plan, given.seed, books, rank); },
      books.problems, std::chrono::seconds(30));
  if (books.problems.empty()) CheckCells(cluster, plan, books);

  ChurnReport report;
  report.replay = fmt::format("leeway sim --workload churn --seed {}", given.seed);
  if (!given.sync.empty()) report.replay += fmt::format(" --sync {}", given.sync);
  if (!given.faults) report.replay += " --no-faults";
  report.problems = books.problems;
  if (!report.ok()) report.log = cluster.Log();
  report.trace_hash = cluster.trace().value();
  report.frames = cluster.trace().frames();
  report.counts = books.counts;
  report.servers = cluster.ServerCounters();
  report.faults = cluster.faults();
  return report;
}

}  // namespace leeway::sim
