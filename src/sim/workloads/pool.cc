#include "sim/workloads/pool.h"

#include <fmt/format.h>

#include <memory>

#include "base/hash.h"
#include "sim/cluster.h"
#include "sim/workloads/run_to_end.h"

namespace leeway::sim {
namespace {

constexpr Duration kBatchTime = std::chrono::milliseconds(1);

class PoolWorker final : public WorkloadPart {
 public:
  PoolWorker(Cluster& cluster, const PoolOptions& options, std::uint32_t rank, PoolReport& report)
      : options_(options),
        rank_(rank),
        node_(cluster.worker(rank)),
        env_(cluster.worker_env(rank)),
        report_(report) {}

  void Begin() override {
    node_.Join(Then([this] { Lease(); }));
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

  void Lease() {
    node_.LeaseBatches("epoch0", options_.batches, options_.wanted, {},
                       [this](const Status& status, const BatchLease& lease) {
                         if (!status.ok()) return report_.problems.push_back(status.ToString());
                         if (lease.exhausted && lease.batches.empty()) return Leave();
                         // Rank 0 is the fastest; the others take a multiple of its time.
                         const auto time = kBatchTime * (1 + 2 * rank_) * lease.batches.size() + kBatchTime;
                         (void)env_.timers.After(time, [this, batches = lease.batches] {
                           for (const std::uint64_t batch : batches) Take(batch);
                           Lease();
                         });
                       });
  }

  void Take(std::uint64_t batch) {
    if (batch >= report_.done.size()) return report_.problems.push_back(fmt::format("no batch {}", batch));
    ++report_.done[batch];
    ++report_.by_worker[rank_];
  }

  void Leave() {
    node_.Leave(
        Then([this] { node_.Finish(Then([this] { node_.Shutdown(Then([this] { done_ = true; })); })); }));
  }

  const PoolOptions& options_;
  const std::uint32_t rank_;
  WorkerNode& node_;
  Env& env_;
  PoolReport& report_;
  bool done_ = false;
};

}  // namespace

PoolReport RunPool(const PoolOptions& options) {
  ClusterOptions cluster_options;
  cluster_options.seed = options.seed;
  cluster_options.faults = options.faults;
  cluster_options.job.job = "pool";
  cluster_options.job.workers = options.workers;

  PoolReport report;
  report.done.resize(options.batches);
  report.by_worker.resize(options.workers);
  std::vector<std::unique_ptr<WorkloadPart>> parts;
  Cluster cluster(cluster_options);
  RunToEnd(
      cluster, parts,
      [&](std::uint32_t rank) { return std::make_unique<PoolWorker>(cluster, options, rank, report); },
      report.problems);
  return report;
}

}  // namespace leeway::sim
