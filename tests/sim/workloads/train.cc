#include "sim/workloads/train.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>

#include "base/hash.h"
#include "sim/cluster.h"
#include "sim/run_to_end.h"

namespace leeway::sim {
namespace {

// In the order of use; together several blocks on every shard.
constexpr std::int64_t kElements[] = {150, 7, 40};
constexpr std::uint32_t kTables = 3;

// A gradient that depends on the values it was computed from, so that a wrong read shows in the end.
std::vector<float> GradientAt(std::uint64_t random_state, std::uint32_t table,
                              std::span<const float> values) {
  std::vector<float> gradient(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t bits = Hash64({random_state, table, i});
    gradient[i] = static_cast<float>(2.0 * UnitInterval(bits) - 1.0) + 0.1F * values[i];
  }
  return gradient;
}

class TrainWorker final : public WorkloadPart {
 public:
  TrainWorker(Cluster& cluster, const TrainOptions& options, std::uint32_t rank, TrainReport& report,
              std::vector<float>& values)
      : options_(options),
        rank_(rank),
        node_(cluster.worker(rank)),
        env_(cluster.worker_env(rank)),
        report_(report),
        problems_(report.problems),
        values_(values),
        random_(Hash64({options.seed, 77, rank})),
        state_(Hash64({options.problem, 78, rank})) {}

  void Begin() override {
    node_.Join(Then([this] { MakeTables(); }));
  }
  [[nodiscard]] bool done() const override { return done_; }
  [[nodiscard]] std::string Where() const override {
    return fmt::format("worker {} in iteration {} waits for: {}", rank_, iteration_, node_.WaitingFor());
  }

 private:
  [[nodiscard]] Done Then(std::function<void()> next) {
    return [this, next = std::move(next)](const Status& status) {
      if (status.ok()) return next();
      problems_.push_back(fmt::format("worker {}: {}", rank_, status.ToString()));
    };
  }

  void MakeTables() {
    iteration_ = node_.iteration().value();
    if (rank_ == 0) report_.began = iteration_;
    if (const auto restored = node_.restored_state();
        restored != nullptr && restored->size() == sizeof state_) {
      std::memcpy(&state_, restored->data(), sizeof state_);
    } else if (restored != nullptr || iteration_ > 0) {
      return problems_.push_back(
          fmt::format("worker {} began in iteration {} without its state", rank_, iteration_));
    }
    for (std::uint32_t table = 0; table < kTables; ++table) {
      TableSpec spec;
      spec.name = fmt::format("table{}", table);
      spec.shape = {kElements[table]};
      spec.optimizer = options_.optimizer;
      pairs_.push_back(std::make_unique<ParameterPair>(spec.elements(), nullptr, nullptr));
      if (const auto made = node_.CreateTable(spec, *pairs_.back()); !made.ok()) {
        return problems_.push_back(made.status().ToString());
      }
    }
    node_.Start(Then([this] {
      for (std::uint32_t table = 0; table < kTables; ++table) {
        auto values = std::make_shared<std::vector<float>>(kElements[table]);
        for (std::size_t i = 0; i < values->size(); ++i) {
          (*values)[i] = static_cast<float>(UnitInterval(Hash64({options_.problem, table, i})));
        }
        const std::span<const float> offered = *values;
        node_.Broadcast(TableId(table), offered, values, Then([] {}));
      }
      Iterate(0);
    }));
  }

  // Uses table after table, as a forward pass does.
  void Iterate(std::uint32_t table) {
    if (iteration_ == options_.iterations) return Leave();
    if (table == kTables) return iteration_ == options_.halve_at ? Meet() : Compute();
    node_.Sync(TableId(table), Then([this, table] {
                 (void)pairs_[table]->Take();
                 Iterate(table + 1);
               }));
  }

  void Compute() {
    (void)env_.timers.After(random_.Between(Duration::zero(), std::chrono::milliseconds(4)),
                            [this] { Push(kTables); });
  }

  // Every rank has read the values before one rank sets others.
  void Meet() {
    node_.Barrier("halve", Then([this] { rank_ == 0 ? Halve(0) : Compute(); }));
  }

  void Halve(std::uint32_t table) {
    if (table == kTables) return Compute();
    node_.ReadArrays(TableId(table), ArraysWanted::kState,
                     [this, table](const Status& status, const TableState& state) {
                       if (!status.ok()) return problems_.push_back(status.ToString());
                       const std::span<const float> values = pairs_[table]->Front();
                       std::vector<std::vector<float>> arrays{{values.begin(), values.end()}};
                       arrays.insert(arrays.end(), state.arrays.begin(), state.arrays.end());
                       for (std::size_t i = 0; i < arrays.size(); ++i) {
                         auto half = std::make_shared<std::vector<float>>(std::move(arrays[i]));
                         for (float& value : *half) value /= 2;
                         LentGradient lent;
                         lent.values = *half;
                         lent.pin = half;
                         node_.Assign(TableId(table), {static_cast<std::uint8_t>(i), state.steps},
                                      std::move(lent), Then([] {}));
                       }
                       Halve(table + 1);
                     });
  }

  void Push(std::uint32_t above) {
    if (above == 0) {
      if (const Status ended = node_.Clock(); !ended.ok()) return problems_.push_back(ended.ToString());
      ++iteration_;
      state_ = Hash64({state_, static_cast<std::uint64_t>(iteration_)});
      if (node_.StateWanted()) GiveState();
      return Iterate(0);
    }
    const std::uint32_t table = above - 1;
    auto values = std::make_shared<std::vector<float>>(GradientAt(state_, table, pairs_[table]->Front()));
    LentGradient gradient;
    gradient.values = *values;
    gradient.pin = values;
    gradient.samples = 1 + static_cast<std::uint32_t>(
                               Hash64({options_.problem, rank_, static_cast<std::uint64_t>(iteration_)}) % 7);
    gradient.hyper.lr = 0.05F / static_cast<float>(1 + iteration_);
    gradient.hyper.weight_decay = 0.01F;
    const Status pushed = node_.Push(TableId(table), std::move(gradient), Then([] {}));
    if (!pushed.ok()) return problems_.push_back(pushed.ToString());
    (void)env_.timers.After(random_.Between(Duration::zero(), std::chrono::microseconds(500)),
                            [this, table] { Push(table); });
  }

  void GiveState() {
    std::vector<std::byte> bytes(sizeof state_);
    std::memcpy(bytes.data(), &state_, sizeof state_);
    node_.GiveState(std::make_shared<const std::vector<std::byte>>(std::move(bytes)));
    ++report_.states;
  }

  void Leave() {
    node_.Leave(Then([this] {
      node_.Finish(Then([this] {
        for (const auto& pair : pairs_) {
          (void)pair->Take();
          values_.insert(values_.end(), pair->Front().begin(), pair->Front().end());
        }
        node_.Shutdown(Then([this] { done_ = true; }));
      }));
    }));
  }

  const TrainOptions& options_;
  const std::uint32_t rank_;
  WorkerNode& node_;
  Env& env_;
  TrainReport& report_;
  std::vector<std::string>& problems_;
  std::vector<float>& values_;  // at the end, table after table
  SeededRandom random_;
  std::uint64_t state_;  // the rank's own: the gradients of an iteration follow it
  std::vector<std::unique_ptr<ParameterPair>> pairs_;
  std::int64_t iteration_ = 0;
  bool done_ = false;
};

}  // namespace

TrainReport RunTrain(const TrainOptions& options) {
  ClusterOptions cluster_options;
  cluster_options.seed = options.seed;
  cluster_options.faults = options.faults;
  cluster_options.job.job = "train";
  cluster_options.job.workers = options.workers;
  cluster_options.job.servers = options.servers;
  cluster_options.job.shards = options.shards;
  cluster_options.job.sync = "bsp";
  cluster_options.job.apply = options.apply;
  // Fixed bugs keep their seeds, and a seed means the same run only with the same placement.
  cluster_options.job.placement = "round_robin";
  cluster_options.job.block_bytes = 20 * sizeof(float);
  cluster_options.checkpoint = options.checkpoint;
  cluster_options.keeps_state = true;
  cluster_options.shared_disk = options.disk;

  TrainReport report;
  std::vector<std::vector<float>> values(options.workers);
  std::vector<std::unique_ptr<WorkloadPart>> parts;
  Cluster cluster(cluster_options);
  bool dark = false;
  if (options.power_loss_at) {
    cluster.queue().At(*options.power_loss_at, [&] {
      options.disk->PowerLoss();
      dark = true;
      report.problems.emplace_back("the power is gone");
    });
  }
  RunToEnd(
      cluster, parts,
      [&](std::uint32_t rank) {
        return std::make_unique<TrainWorker>(cluster, options, rank, report, values[rank]);
      },
      report.problems);
  report.ended = !dark;
  if (dark) {
    report.problems.clear();
    return report;
  }
  report.trace_hash = cluster.trace().value();
  report.cuts = cluster.network().counters().cuts;
  report.status = cluster.scheduler().StatusJson();
  if (!report.problems.empty()) return report;
  report.values = values[0];
  for (const auto& of_rank : values) {
    if (of_rank != report.values) report.problems.emplace_back("final values differ between ranks");
  }
  return report;
}

}  // namespace leeway::sim
