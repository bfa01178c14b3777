// Initial values on loan, over the transports of a whole job on loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <latch>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "leeway/worker.h"
#include "process/local_job.h"
#include "process/testing/quiet_log.h"

namespace leeway::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAreArray;

constexpr std::size_t kBroadcastElements = 100'000;

class WorkerBroadcastTest : public ::testing::TestWithParam<std::string> {
 protected:
  void Begin(const std::string& transport, std::chrono::milliseconds wait_max = std::chrono::seconds(20)) {
    JobOptions job_options;
    job_options.block_bytes = 64 * 1024;  // several blocks
    Result<std::unique_ptr<LocalJob>> job_started = LocalJob::Start(job_options, log, transport);
    ASSERT_TRUE(job_started.ok()) << job_started.status().ToString();
    job = *std::move(job_started);
    WorkerOptions options;
    options.scheduler = job->scheduler();
    options.link.secret = job->secret();
    options.link.transport = transport;
    options.wait_max = wait_max;
    Result<std::unique_ptr<Worker>> joined = Worker::Initialize(options);
    ASSERT_TRUE(joined.ok()) << joined.status().ToString() << log.Text();
    worker = *std::move(joined);
  }
  TableId MakeTable(TableBuffers buffers = {}) {
    const Result<TableId> table =
        worker->CreateTable({.name = "w", .shape = {static_cast<std::int64_t>(kBroadcastElements)}}, buffers);
    EXPECT_TRUE(table.ok()) << table.status().ToString();
    const Status started = worker->Start();
    EXPECT_TRUE(started.ok()) << started.ToString();
    return *table;
  }
  static bool IsGoneSoon(const std::weak_ptr<const void>& pin) {
    for (int i = 0; i < 2000 && !pin.expired(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return pin.expired();
  }

  QuietLog log;
  std::unique_ptr<LocalJob> job;
  std::unique_ptr<Worker> worker;  // after job: ends first
};

TEST_P(WorkerBroadcastTest, LentValuesArriveAndThePinIsGoneWhenTheCallReturns) {
  Begin(GetParam());
  const TableId table = MakeTable();
  const std::shared_ptr<float> values = worker->Allocate(kBroadcastElements);
  const std::span<float> lent(values.get(), kBroadcastElements);
  std::iota(lent.begin(), lent.end(), 1.0F);
  auto pin = std::make_shared<const int>();
  const std::weak_ptr<const void> held = pin;
  const Status given = worker->Broadcast(table, lent, std::move(pin));
  ASSERT_TRUE(given.ok()) << given.ToString();
  EXPECT_TRUE(held.expired());
  const std::vector<float> wanted(lent.begin(), lent.end());
  std::ranges::fill(lent, -1.0F);  // ours again
  EXPECT_THAT(*worker->Sync(table), ElementsAreArray(wanted));
  EXPECT_TRUE(worker->Shutdown().ok());
}

TEST_P(WorkerBroadcastTest, TheBufferInUseMayBeLent) {
  Begin(GetParam());
  const std::shared_ptr<float> first = worker->Allocate(kBroadcastElements);
  const std::shared_ptr<float> second = worker->Allocate(kBroadcastElements);
  const TableId table = MakeTable({first.get(), second.get()});
  std::fill_n(first.get(), kBroadcastElements, 3.0F);
  ASSERT_TRUE(worker->Broadcast(table, {first.get(), kBroadcastElements}, first).ok());
  EXPECT_EQ(first.use_count(), 1);
  EXPECT_THAT(*worker->Sync(table), Each(3.0F));
  const std::vector<float> gradient(kBroadcastElements, 1.0F);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(worker->Push(table, gradient, {.hyper = {.lr = 1.0F}}).ok());
    ASSERT_TRUE(worker->Clock().ok());
    EXPECT_THAT(*worker->Sync(table), Each(2.0F - static_cast<float>(i)));
  }
  EXPECT_TRUE(worker->Shutdown().ok());
}

INSTANTIATE_TEST_SUITE_P(Transports, WorkerBroadcastTest, ::testing::Values("local", "tcp"),
                         [](const auto& of) { return of.param; });

// Kilobytes of /proc/self/status.
long SharedResident() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("RssShmem:", 0) == 0) return std::stol(line.substr(9));
  }
  return -1;
}

TEST_F(WorkerBroadcastTest, TheServerHasTheMemoryOfANewTableMadeBeforeItsValuesComeAndTheyGoThere) {
  Begin("tcp");
  constexpr long kKib = 32 * 1024;
  const long before = SharedResident();
  const Result<TableId> table = worker->CreateTable({.name = "large", .shape = {kKib * 256}});
  ASSERT_TRUE(worker->Start().ok());
  for (int i = 0; i < 2000 && SharedResident() - before < kKib; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GE(SharedResident() - before, kKib);
  const std::vector<float> values(kKib * 256, 1.0F);
  ASSERT_TRUE(worker->Broadcast(*table, values, std::make_shared<const int>()).ok());
  EXPECT_LT(SharedResident() - before, kKib + kKib / 4);
}

// The node cannot go on before the test lets it: its thread is held in a callback.
class BrokenOffBroadcastTest : public WorkerBroadcastTest {
 protected:
  void HoldTheNode() {
    TableSpec spec{
        .name = "held", .shape = {1}, .clock = TableClock::kOwn, .sync = "asp", .optimizer = "sum"};
    const Result<TableId> table = worker->CreateTable(spec);
    ASSERT_TRUE(worker->Start().ok());
    ASSERT_TRUE(worker->Broadcast(*table, std::vector<float>{0}).ok());
    const auto stay = [this](const Status&) {
      held.count_down();
      go_on.wait();
    };
    ASSERT_TRUE(worker->Push(*table, one, {.done = stay}).ok());
    held.wait();
  }
  const std::vector<float> one{1};
  std::latch held{1}, go_on{1};
};

TEST_F(BrokenOffBroadcastTest, KeepsThePinUntilTheNodeIsDone) {
  Begin("local", std::chrono::milliseconds(1500));
  const TableId table = MakeTable();
  HoldTheNode();
  std::vector<float> values(kBroadcastElements, 1.0F);
  auto pin = std::make_shared<const int>();
  const std::weak_ptr<const void> lent = pin;
  EXPECT_EQ(worker->Broadcast(table, values, std::move(pin)).code(), StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(lent.expired()) << "the node will read it";
  std::ranges::fill(values, 2.0F);  // shows where it is read; a user must not
  go_on.count_down();
  EXPECT_TRUE(IsGoneSoon(lent));
  EXPECT_THAT(*worker->Sync(table), Each(2.0F)) << "it was read where it lies";
}

TEST_F(BrokenOffBroadcastTest, WithoutAPinTheValuesWereCopied) {
  Begin("local", std::chrono::milliseconds(1500));
  const TableId table = MakeTable();
  HoldTheNode();
  {
    std::vector<float> values(kBroadcastElements, 1.0F);
    EXPECT_EQ(worker->Broadcast(table, values).code(), StatusCode::kDeadlineExceeded);
    std::ranges::fill(values, 2.0F);
  }
  go_on.count_down();
  EXPECT_THAT(*worker->Sync(table), Each(1.0F));
}

}  // namespace
}  // namespace leeway::testing
