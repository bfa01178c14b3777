// Ranks that meet once an epoch, with equal and unequal numbers of batches. With unequal ones some wait at
// the meeting while others wait for their gradients: the job ends and says so. With equal ones no standstill
// is ever reported, under any network fault.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "sim/cluster.h"
#include "sim/run_to_end.h"
#include "sim/seeded_random.h"

namespace leeway::sim {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr TableId kTable(0);
constexpr std::array<float, 8> kOnes{1, 1, 1, 1, 1, 1, 1, 1};

struct EpochOptions {
  std::uint64_t seed = 1;
  std::string sync = "bsp";
  std::vector<int> batches;  // in an epoch, by rank
  int epochs = 3;
  bool faults = true;
  bool join = false;  // a rank leaves instead of meeting the others in the last epoch
};

struct EpochReport {
  std::vector<std::string> problems;
  std::vector<Status> failures;  // of workers
};

class EpochWorker final : public WorkloadPart {
 public:
  EpochWorker(Cluster& cluster, const EpochOptions& options, std::uint32_t rank, EpochReport& report)
      : options_(options),
        rank_(rank),
        node_(cluster.worker(rank)),
        env_(cluster.worker_env(rank)),
        report_(report),
        random_(Hash64({options.seed, 77, rank})) {}

  void Begin() override {
    node_.Join(Then([this] {
      TableSpec spec;
      spec.name = "w";
      spec.shape = {static_cast<std::int64_t>(kOnes.size())};
      if (const Status made = node_.CreateTable(spec, pair_).status(); !made.ok())
        return report_.problems.push_back(made.ToString());
      node_.Start(Then([this] { node_.Broadcast(kTable, kOnes, nullptr, Then([this] { Train(); })); }));
    }));
  }
  [[nodiscard]] bool done() const override { return done_; }
  [[nodiscard]] std::string Where() const override {
    return fmt::format("worker {} waits for: {}", rank_, node_.WaitingFor());
  }

 private:
  [[nodiscard]] Done Then(std::function<void()> next) {
    return [this, next = std::move(next)](const Status& status) {
      if (status.ok()) return next();
    };
  }
  void Train() {
    if (batch_ == options_.batches[rank_]) return Meet();
    ++batch_;
    node_.Sync(kTable, Then([this] {
                 (void)pair_.Take();
                 // Now and then a worker takes longer than the delay after which its peers ask for the
                 // cause of their wait.
                 const Duration most = random_.Chance(0.02) ? milliseconds(900) : milliseconds(20);
                 (void)env_.timers.After(random_.Between(Duration::zero(), most), [this] { Push(); });
               }));
  }
  void Push() {
    LentGradient gradient;
    gradient.values = kOnes;
    gradient.samples = 1;
    (void)node_.Push(kTable, std::move(gradient), {});
    (void)node_.Clock();
    Train();
  }
  void Meet() {
    batch_ = 0;
    if (++epoch_ == options_.epochs && options_.join) return Leave();
    node_.Barrier("epoch", Then([this] { epoch_ == options_.epochs ? Leave() : Train(); }));
  }
  void Leave() {
    node_.Leave(
        Then([this] { node_.Finish(Then([this] { node_.Shutdown(Then([this] { done_ = true; })); })); }));
  }

  const EpochOptions& options_;
  const std::uint32_t rank_;
  WorkerNode& node_;
  Env& env_;
  EpochReport& report_;
  SeededRandom random_;
  ParameterPair pair_{kOnes.size(), nullptr, nullptr};
  int batch_ = 0, epoch_ = 0;
  bool done_ = false;
};

EpochReport RunEpochs(const EpochOptions& options) {
  EpochReport report;
  ClusterOptions cluster_options;
  cluster_options.seed = options.seed;
  cluster_options.faults = options.faults;
  cluster_options.job.workers = static_cast<std::uint32_t>(options.batches.size());
  cluster_options.job.servers = 2;
  cluster_options.job.block_bytes = 16;
  cluster_options.job.sync = options.sync;
  cluster_options.may_fail = [&report](std::uint32_t, const Status& why) {
    report.failures.push_back(why);
    return true;
  };
  std::vector<std::unique_ptr<WorkloadPart>> parts;
  Cluster cluster(cluster_options);
  cluster.Start([&](std::uint32_t rank) {
    if (parts.size() <= rank) parts.resize(rank + 1);
    parts[rank] = std::make_unique<EpochWorker>(cluster, options, rank, report);
    parts[rank]->Begin();
  });
  if (!cluster.RunUntil([&] { return cluster.Ended(); }, cluster.healed_by() + std::chrono::seconds(30))) {
    for (const auto& part : parts) report.problems.push_back(part->Where());
  }
  for (const std::string& problem : cluster.Problems()) report.problems.push_back(problem);
  return report;
}

TEST(StandstillTest, RanksWithUnequalBatchesAreToldThatTheyWaitForEachOther) {
  for (const char* sync : {"bsp", "ssp:2"}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      EpochOptions options;
      options.seed = seed;
      options.sync = sync;
      options.batches = {12, 12, 20};
      const EpochReport report = RunEpochs(options);
      ASSERT_EQ(report.failures.size(), 3U) << "seed " << seed << " under " << sync;
      for (const Status& failure : report.failures) {
        EXPECT_EQ(failure.code(), StatusCode::kFailedPrecondition) << failure.ToString();
        EXPECT_THAT(failure.message(),
                    AllOf(HasSubstr("workers 0, 1 wait for barrier \"epoch\", which needs worker 2"),
                          HasSubstr("worker 2 waits for the values of table \"w\" for iteration "),
                          HasSubstr("which needs workers 0, 1"), HasSubstr("join()")));
      }
    }
  }
}

TEST(StandstillTest, RanksWithEqualBatchesAreNever) {
  for (const char* sync : {"bsp", "ssp:2", "asp"}) {
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
      EpochOptions options;
      options.seed = seed;
      options.sync = sync;
      options.batches = {12, 12, 12};
      const EpochReport report = RunEpochs(options);
      EXPECT_THAT(report.problems, IsEmpty()) << "seed " << seed << " under " << sync;
      EXPECT_THAT(report.failures, IsEmpty()) << "seed " << seed << " under " << sync;
    }
  }
}

TEST(StandstillTest, RanksThatLeaveWhenTheirDataEndsAreNever) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    EpochOptions options;
    options.seed = seed;
    options.batches = {12, 15, 20};
    options.epochs = 1;
    options.join = true;
    const EpochReport report = RunEpochs(options);
    EXPECT_THAT(report.problems, IsEmpty()) << "seed " << seed;
    EXPECT_THAT(report.failures, IsEmpty()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace leeway::sim
