#include "sim/workloads/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/hash.h"
#include "sim/run_to_end.h"
#include "sim/seeded_random.h"

namespace leeway::sim {
namespace {

constexpr std::uint64_t kStepsStream = 41;
constexpr std::uint32_t kWideTable = 0, kNarrowTable = 1;

class StepsWorker final : public WorkloadPart {
 public:
  StepsWorker(Cluster& cluster, const StepsOptions& options, std::uint32_t rank, StepsReport& report)
      : cluster_(cluster),
        options_(options),
        rank_(rank),
        steps_(options.steps[std::min<std::size_t>(rank, options.steps.size() - 1)]),
        mortal_(std::ranges::count(options.mortal, rank) > 0),
        node_(cluster.worker(rank)),
        env_(cluster.worker_env(rank)),
        report_(report),
        random_(Hash64({options.seed, kStepsStream, rank})) {}

  void Begin() override {
    node_.Join(Then([this] { MakeTables(); }));
  }
  [[nodiscard]] bool done() const override { return done_ || mortal_; }
  [[nodiscard]] std::string Where() const override {
    return fmt::format("worker {} in step {} of {} waits for: {}", rank_, report_.steps[rank_].size(), steps_,
                       mortal_ ? "" : node_.WaitingFor());
  }

 private:
  [[nodiscard]] Done Then(std::function<void()> next) {
    return [this, next = std::move(next)](const Status& status) {
      if (status.ok()) return next();
      Problem(status.ToString());
    };
  }
  void Problem(const std::string& what) {
    report_.problems.push_back(fmt::format("worker {}: {}", rank_, what));
  }

  void MakeTables() {
    node_.SetVerdictObserver([this](TableId, BlockId, Seq, Iteration iteration, wire::Verdict verdict,
                                    Iteration) { OnVerdict(iteration.value(), verdict); });
    for (const auto& [name, elements] : {std::pair("wide", kStepsWide), std::pair("narrow", kStepsNarrow)}) {
      TableSpec spec;
      spec.name = name;
      spec.shape = {elements};
      spec.optimizer = "sum";
      pairs_.push_back(std::make_unique<ParameterPair>(spec.elements(), nullptr, nullptr));
      if (const auto made = node_.CreateTable(spec, *pairs_.back()); !made.ok())
        return Problem(made.status().ToString());
    }
    node_.Start(Then([this] {
      for (std::uint32_t table = 0; table < pairs_.size(); ++table) {
        // Not zero, so that gradients have a significance.
        auto values = std::make_shared<std::vector<float>>(pairs_[table]->elements(), 1.0F);
        const std::span<const float> offered = *values;
        node_.Broadcast(TableId(table), offered, std::move(values), Then([] {}));
      }
      Step();
    }));
  }

  void Step() {
    if (report_.steps[rank_].size() == steps_) return Leave();
    Use(kWideTable, [this] { Use(kNarrowTable, [this] { Compute(); }); });
  }

  void Use(std::uint32_t table, std::function<void()> next) {
    node_.Sync(TableId(table), Then([this, table, next = std::move(next)] {
                 while (!pairs_[table]->Take()) {
                 }
                 next();
               }));
  }

  void Compute() {
    const auto step = static_cast<std::uint32_t>(report_.steps[rank_].size());
    const std::int64_t iteration = node_.iteration().value();
    StepRecord record;
    record.iteration = iteration;
    record.begun = cluster_.queue().now();
    record.open = open_.empty() ? 1 : iteration - open_.begin()->first + 1;
    report_.steps[rank_].push_back(record);
    SetRules(step);
    const Duration time = options_.compute
                              ? options_.compute(rank_, step)
                              : random_.Between(std::chrono::milliseconds(2), std::chrono::milliseconds(6));
    (void)env_.timers.After(time, [this] { HandIn(); });
  }

  // Training continues meanwhile; a worker that sets a rule leaves once it is in force.
  void SetRules(std::uint32_t step) {
    for (const DrawnSwitch& change : options_.switches) {
      if (change.rank != rank_ || change.step != step) continue;
      ++rules_open_;
      node_.SetSync(change.rule, [this](const Status& status, std::uint32_t) {
        --rules_open_;
        if (!status.ok()) Problem(status.ToString());
        if (leaving_) Leave();
      });
    }
  }

  void HandIn() {
    StepRecord& record = report_.steps[rank_].back();
    record.iteration = node_.iteration().value();
    open_[record.iteration] = kStepsBlocks;
    for (const std::uint32_t table : {kNarrowTable, kWideTable}) {
      auto values = std::make_shared<std::vector<float>>(pairs_[table]->elements(), 0.0F);
      for (std::size_t i = rank_; i < values->size(); i += options_.job.workers) (*values)[i] = 1.0F;
      LentGradient gradient;
      gradient.values = *values;
      gradient.pin = values;
      const Status pushed = node_.Push(TableId(table), std::move(gradient), Then([] {}));
      if (!pushed.ok()) return Problem(pushed.ToString());
    }
    ++report_.given[rank_];
    if (const Status ended = node_.Clock(); !ended.ok()) return Problem(ended.ToString());
    if (node_.StateWanted()) node_.GiveState(std::make_shared<const std::vector<std::byte>>(40));
    Step();
  }

  void OnVerdict(std::int64_t iteration, wire::Verdict verdict) {
    if (const auto open = open_.find(iteration); open != open_.end() && --open->second == 0)
      open_.erase(open);
    for (StepRecord& record : report_.steps[rank_]) {
      if (record.iteration != iteration) continue;
      record.taken += verdict == wire::Verdict::kApplied || verdict == wire::Verdict::kSummed;
      record.late += verdict == wire::Verdict::kLateDropped;
    }
  }

  void Leave() {
    leaving_ = true;
    if (rules_open_ > 0) return;
    node_.Leave(Then([this] {
      node_.Finish(Then([this] {
        for (const auto& pair : pairs_) (void)pair->Take();
        const std::span<const float> front = pairs_[kWideTable]->Front();
        const std::vector<float> values(front.begin(), front.end());
        if (report_.values.empty()) report_.values = values;
        if (report_.values != values) Problem("its final values are not those of the others");
        report_.counters[rank_] = node_.counters();
        node_.Shutdown(Then([this] { done_ = true; }));
      }));
    }));
  }

  Cluster& cluster_;
  const StepsOptions& options_;
  const std::uint32_t rank_;
  const std::uint32_t steps_;
  const bool mortal_;
  WorkerNode& node_;
  Env& env_;
  StepsReport& report_;
  SeededRandom random_;
  std::vector<std::unique_ptr<ParameterPair>> pairs_;
  std::map<std::int64_t, std::uint32_t> open_;  // blocks without a verdict, by iteration
  std::uint32_t rules_open_ = 0;
  bool leaving_ = false;
  bool done_ = false;
};

}  // namespace

StepsReport RunSteps(const StepsOptions& options) {
  ClusterOptions cluster_options;
  cluster_options.seed = options.seed;
  cluster_options.job = options.job;
  cluster_options.job.job = "steps";
  cluster_options.job.seed = options.seed;
  // Fixed bugs keep their seeds, and a seed means the same run only with the same placement.
  cluster_options.job.placement = "round_robin";
  cluster_options.job.block_bytes = kStepsBlockElements * sizeof(float);
  cluster_options.policies = options.policies;
  cluster_options.faults = options.faults;
  cluster_options.network = options.network;
  cluster_options.checkpoint = options.checkpoint;
  cluster_options.shared_disk = options.disk;
  cluster_options.keeps_state = options.disk != nullptr;

  StepsReport report;
  report.steps.resize(options.job.workers);
  report.counters.resize(options.job.workers);
  report.given.resize(options.job.workers);
  std::vector<std::unique_ptr<WorkloadPart>> parts;
  Cluster cluster(cluster_options);
  if (options.script) options.script(cluster);
  RunToEnd(
      cluster, parts,
      [&](std::uint32_t rank) { return std::make_unique<StepsWorker>(cluster, options, rank, report); },
      report.problems);
  report.servers = cluster.ServerCounters();
  report.answers_withdrawn = cluster.AnswersWithdrawn();
  report.status_json = cluster.scheduler().StatusJson();
  report.cuts = cluster.network().counters().cuts;
  report.virtual_ms = std::chrono::duration<double, std::milli>(cluster.queue().now()).count();
  return report;
}

}  // namespace leeway::sim
