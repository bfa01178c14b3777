#include "sim/workloads/pool.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <deque>
#include <memory>
#include <utility>

#include "base/hash.h"
#include "sim/cluster.h"
#include "sim/run_to_end.h"

namespace leeway::sim {
namespace {

constexpr Duration kBatchTime = std::chrono::milliseconds(1);
constexpr TableId kTable{0};
constexpr std::array<float, 1> kZero{0.0F}, kOne{1.0F};

class PoolWorker final : public WorkloadPart {
 public:
  PoolWorker(Cluster& cluster, const PoolOptions& options, std::uint32_t rank, PoolReport& report)
      : options_(options),
        rank_(rank),
        node_(cluster.worker(rank)),
        env_(cluster.worker_env(rank)),
        report_(report) {}

  void Begin() override {
    node_.Join(Then([this] { MakeTable(); }));
  }
  [[nodiscard]] bool done() const override { return done_; }
  [[nodiscard]] std::string Where() const override {
    return fmt::format("worker {} waits for: {}", rank_, node_.WaitingFor());
  }

 private:
  [[nodiscard]] Done Then(std::function<void()> next) {
    return [this, next = std::move(next)](const Status& status) {
      if (status.ok()) return next();
      report_.problems.push_back(fmt::format("worker {}: {}", rank_, status.ToString()));
    };
  }

  void MakeTable() {
    TableSpec spec;
    spec.name = "w";
    spec.shape = {1};
    spec.optimizer = "sgd";
    if (const Status made = node_.CreateTable(spec, pair_).status(); !made.ok())
      return report_.problems.push_back(made.ToString());
    node_.Start(Then([this] { node_.Broadcast(kTable, kZero, nullptr, Then([this] { Lease(); })); }));
  }

  void Lease() {
    node_.LeaseBatches("epoch0", options_.batches, options_.wanted, {},
                       [this](const Status& status, const BatchLease& lease) {
                         if (!status.ok()) return report_.problems.push_back(status.ToString());
                         if (lease.exhausted && lease.batches.empty()) return Leave();
                         batches_.assign(lease.batches.begin(), lease.batches.end());
                         DoNext();
                       });
  }

  void DoNext() {
    if (batches_.empty()) return Lease();
    node_.Sync(kTable, Then([this] {
                 (void)pair_.Take();
                 // Rank 0 is the fastest; the others take a multiple of its time.
                 (void)env_.timers.After(kBatchTime * (1 + 2 * rank_), [this] { Push(); });
               }));
  }

  void Push() {
    LentGradient gradient;
    gradient.values = kOne;
    gradient.samples = 1;
    gradient.hyper.lr = static_cast<float>(options_.workers);
    const Status pushed = node_.Push(kTable, std::move(gradient), Then([] {}));
    const Status ended = node_.Clock();
    for (const Status& status : {pushed, ended}) {
      if (!status.ok()) return report_.problems.push_back(status.ToString());
    }
    Take(batches_.front());
    batches_.pop_front();
    DoNext();
  }

  void Take(std::uint64_t batch) {
    if (batch >= report_.done.size()) return report_.problems.push_back(fmt::format("no batch {}", batch));
    ++report_.done[batch];
    ++report_.by_worker[rank_];
  }

  void Leave() {
    node_.Leave(Then([this] {
      node_.Finish(Then([this] {
        (void)pair_.Take();
        report_.values.push_back(pair_.Front()[0]);
        node_.Shutdown(Then([this] { done_ = true; }));
      }));
    }));
  }

  const PoolOptions& options_;
  const std::uint32_t rank_;
  WorkerNode& node_;
  Env& env_;
  PoolReport& report_;
  ParameterPair pair_{1, nullptr, nullptr};
  std::deque<std::uint64_t> batches_;  // leased and not done
  bool done_ = false;
};

}  // namespace

PoolReport RunPool(const PoolOptions& options) {
  ClusterOptions cluster_options;
  cluster_options.seed = options.seed;
  cluster_options.faults = options.faults;
  cluster_options.job.job = "pool";
  cluster_options.job.workers = options.workers;
  cluster_options.job.sync = options.sync;
  cluster_options.job.apply = options.apply;

  PoolReport report;
  report.done.resize(options.batches);
  report.by_worker.resize(options.workers);
  std::vector<std::unique_ptr<WorkloadPart>> parts;
  Cluster cluster(cluster_options);
  RunToEnd(
      cluster, parts,
      [&](std::uint32_t rank) { return std::make_unique<PoolWorker>(cluster, options, rank, report); },
      report.problems);
  const auto wanted = -static_cast<float>(options.batches);
  for (const float value : report.values) {
    if (std::abs(value - wanted) < 1e-3F * static_cast<float>(options.batches)) continue;
    report.problems.push_back(
        fmt::format("steps of {} workers add up to {}, wanted {}", options.workers, value, wanted));
  }
  return report;
}

}  // namespace leeway::sim
