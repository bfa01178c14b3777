// Whole jobs on loopback: several workers, a scheduler and a server of two shards, all threads of this
// process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <thread>
#include <vector>

#include "leeway/worker.h"
#include "process/scheduler_process.h"
#include "process/server_process.h"
#include "process/testing/quiet_log.h"
#include "transport/stream/stream_options.h"

namespace leeway::testing {
namespace {

using ::testing::AnyOf;
using ::testing::Each;
using ::testing::HasSubstr;

constexpr std::uint32_t kJobWorkers = 3;
constexpr std::size_t kJobElements = 40;
constexpr const char* kJobSecret = "a secret that all of them know..";

class JobTest : public ::testing::Test {
 protected:
  void StartJob(const std::string& sync) {
    SchedulerOptions options;
    options.job.workers = kJobWorkers;
    options.job.shards = 2;
    options.job.sync = sync;
    options.job.block_bytes = 64;
    options.link.secret = kJobSecret;
    Result<std::unique_ptr<SchedulerProcess>> scheduling = SchedulerProcess::Start(options, policies, log);
    ASSERT_TRUE(scheduling.ok()) << scheduling.status().ToString();
    scheduler = *std::move(scheduling);
    ServerOptions serving;
    serving.scheduler = scheduler->address();
    serving.link.secret = kJobSecret;
    Result<std::unique_ptr<ServerProcess>> started = ServerProcess::Start(serving, 2, policies, log);
    ASSERT_TRUE(started.ok()) << started.status().ToString();
    server = *std::move(started);
  }
  Result<std::unique_ptr<Worker>> Join() {
    WorkerOptions options;
    options.scheduler = scheduler->address();
    options.link.secret = kJobSecret;
    options.wait_max = std::chrono::seconds(30);
    return Worker::Initialize(options);
  }
  // Runs `script` as every worker of the job, each on a thread of its own.
  void RunWorkers(const std::function<void(Worker&)>& script) {
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < kJobWorkers; ++i) {
      threads.emplace_back([&] {
        Result<std::unique_ptr<Worker>> worker = Join();
        ASSERT_TRUE(worker.ok()) << worker.status().ToString() << "\n" << log.Text();
        script(**worker);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  void ExpectCleanEnd() {
    const Status ended = scheduler->Wait(std::chrono::seconds(10));
    EXPECT_TRUE(ended.ok()) << ended.ToString() << "\n" << log.Text();
    const Status served = server->Wait(std::chrono::seconds(10));
    EXPECT_TRUE(served.ok()) << served.ToString();
  }

  QuietLog log;
  const Policies policies = Policies::Builtin();
  std::unique_ptr<SchedulerProcess> scheduler;
  std::unique_ptr<ServerProcess> server;
};

TEST_F(JobTest, ClocksWithoutASyncBetweenThemCountWhatWasLeftOut) {
  StartJob("drop:1");
  std::latch six_steps(1), seen(1);
  RunWorkers([&](Worker& worker) {
    const TableId table = *worker.CreateTable({.name = "w", .shape = {kJobElements}});
    ASSERT_TRUE(worker.Start().ok());
    const std::vector<float> ones(kJobElements, 1.0F);
    ASSERT_TRUE(worker.Broadcast(table, ones).ok());
    const auto step = [&] {
      const Result<Ticket> ticket = worker.Push(table, ones);
      ASSERT_TRUE(ticket.ok()) << ticket.status().ToString();
      ASSERT_TRUE(worker.Clock().ok());
      ASSERT_TRUE(worker.Wait(*ticket).ok());
    };
    if (worker.rank() == WorkerId(0)) {
      for (int i = 0; i < 6; ++i) step();
      six_steps.count_down();
      seen.wait();  // one who leaves is absent from its next iteration, and that ends it
    } else if (worker.rank() == WorkerId(1)) {
      six_steps.wait();
      step();  // its verdict tells of iteration 6
      ASSERT_TRUE(worker.Clock().ok());
      ASSERT_TRUE(worker.Clock().ok());
      // Refused by the node, behind the two in its queue.
      EXPECT_EQ(worker.Barrier("after a step").code(), StatusCode::kFailedPrecondition);
      // 6 instead of 2, and one more; or two more, where the verdict came before the step's own Clock.
      EXPECT_THAT(worker.iteration(), AnyOf(Iteration(7), Iteration(8)));
      seen.count_down();
    }
    const Status down = worker.Shutdown();
    EXPECT_TRUE(down.ok()) << down.ToString();
  });
  ExpectCleanEnd();
}

class JobModelTest : public JobTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(JobModelTest, UnevenWorkersLeaveAndAllEndWithEqualFinalValues) {
  StartJob(GetParam());
  std::vector<float> finals[kJobWorkers];
  RunWorkers([&](Worker& worker) {
    const TableId table = *worker.CreateTable({.name = "w", .shape = {kJobElements}});
    const TableId frozen = *worker.CreateTable({.name = "frozen", .shape = {5}});
    ASSERT_TRUE(worker.Start().ok());
    ASSERT_TRUE(worker.Broadcast(table, std::vector<float>(kJobElements, 0.0F)).ok());
    ASSERT_TRUE(worker.Broadcast(frozen, std::vector<float>(5, 7.0F)).ok());
    std::vector<float> gradient(kJobElements);
    const std::uint32_t iterations = 40 + 20 * worker.rank().value();
    for (std::uint32_t i = 0; i < iterations; ++i) {
      const Result<std::span<const float>> w = worker.Sync(table);
      ASSERT_TRUE(w.ok()) << w.status().ToString();
      for (std::size_t j = 0; j < kJobElements; ++j) gradient[j] = (*w)[j] - 3.0F;
      const Result<Ticket> ticket = worker.Push(table, gradient, {.hyper = {.lr = 0.3F}});
      ASSERT_TRUE(ticket.ok()) << ticket.status().ToString();
      ASSERT_TRUE(worker.Clock().ok());
      ASSERT_TRUE(worker.Wait(*ticket).ok());
    }
    const Status left = worker.Leave();
    ASSERT_TRUE(left.ok()) << left.ToString();
    EXPECT_EQ(worker.Push(table, gradient).status().code(), StatusCode::kFailedPrecondition);
    const Status finished = worker.Finish();
    ASSERT_TRUE(finished.ok()) << finished.ToString();
    const std::span<const float> final = *worker.Sync(table);
    finals[worker.rank().value()].assign(final.begin(), final.end());
    EXPECT_THAT(*worker.Sync(frozen), Each(7.0F));
    const Status down = worker.Shutdown();
    EXPECT_TRUE(down.ok()) << down.ToString();
  });
  for (const std::vector<float>& final : finals) {
    ASSERT_EQ(final.size(), kJobElements);
    EXPECT_EQ(final, finals[0]);
    for (const float value : final) EXPECT_NEAR(value, 3.0F, 0.05F);
  }
  ExpectCleanEnd();
}

INSTANTIATE_TEST_SUITE_P(Models, JobModelTest, ::testing::Values("bsp", "ssp:2", "asp"),
                         [](const auto& model) { return std::string(model.param).substr(0, 3); });

TEST_F(JobTest, EveryPushOfEveryWorkerCountsExactlyOnceInASum) {
  StartJob("asp");
  RunWorkers([&](Worker& worker) {
    const TableSpec spec{
        .name = "sum", .shape = {kJobElements}, .clock = TableClock::kOwn, .sync = "asp", .optimizer = "sum"};
    const TableId table = *worker.CreateTable(spec);
    ASSERT_TRUE(worker.Start().ok());
    ASSERT_TRUE(worker.Broadcast(table, std::vector<float>(kJobElements, 0.0F)).ok());
    const std::vector<float> one(kJobElements, 1.0F);
    std::vector<Ticket> tickets;
    for (int i = 0; i < 50; ++i) tickets.push_back(*worker.Push(table, one));
    for (const Ticket ticket : tickets) ASSERT_TRUE(worker.Wait(ticket).ok());
    ASSERT_TRUE(worker.Barrier("pushed").ok());
    std::vector<float> got(kJobElements);
    ASSERT_TRUE(worker.Wait(*worker.Pull(table, got)).ok());
    EXPECT_THAT(got, Each(150.0F));
    ASSERT_TRUE(worker.Finish().ok());
    EXPECT_THAT(*worker.Sync(table), Each(150.0F)) << "final values of an own-clock table, too";
    EXPECT_TRUE(worker.Shutdown().ok());
  });
  EXPECT_THAT(scheduler->StatusJson(), HasSubstr("\"phase\""));
  ExpectCleanEnd();
}

TEST_F(JobTest, AWorkerThatIsDestroyedDoesNotHoldTheOthers) {
  StartJob("bsp");
  RunWorkers([&](Worker& worker) {
    const TableId table = *worker.CreateTable({.name = "w", .shape = {kJobElements}});
    ASSERT_TRUE(worker.Start().ok());
    ASSERT_TRUE(worker.Broadcast(table, std::vector<float>(kJobElements, 0.0F)).ok());
    const std::vector<float> gradient(kJobElements, 0.1F);
    for (int i = 0; i < 20; ++i) {
      if (worker.rank() == WorkerId(2) && i == 5) return;
      const Result<std::span<const float>> w = worker.Sync(table);
      ASSERT_TRUE(w.ok()) << w.status().ToString();
      const Result<Ticket> ticket = worker.Push(table, gradient);
      ASSERT_TRUE(ticket.ok()) << ticket.status().ToString();
      ASSERT_TRUE(worker.Clock().ok());
      ASSERT_TRUE(worker.Wait(*ticket).ok());
    }
    const Status down = worker.Shutdown();
    EXPECT_TRUE(down.ok()) << down.ToString();
  });
  ExpectCleanEnd();
}

TEST_F(JobTest, StoppingTheSchedulerTellsWorkersWhy) {
  StartJob("bsp");
  RunWorkers([&](Worker& worker) {
    const Status met = worker.Barrier("together");
    if (worker.rank() == WorkerId(0)) {
      ASSERT_TRUE(met.ok()) << met.ToString();
      scheduler->Stop(Status(StatusCode::kCancelled, "the user pressed Ctrl-C"));
    }
    // A server that ends may tell the others before the scheduler's word that all have met reaches them.
    const Status told = met.ok() ? worker.Barrier("never") : met;
    EXPECT_EQ(told.code(), StatusCode::kCancelled);
    EXPECT_THAT(told.message(), HasSubstr("Ctrl-C"));
    EXPECT_EQ(worker.Clock().code(), StatusCode::kCancelled) << "every later call says the same";
  });
}

TEST_F(JobTest, AServerWithoutASchedulerGivesUp) {
  ServerOptions options;
  options.scheduler = "127.0.0.1:1";
  options.link.give_up_after = std::chrono::milliseconds(100);
  options.link.backoff_min = std::chrono::milliseconds(5);
  Result<std::unique_ptr<ServerProcess>> started = ServerProcess::Start(options, 2, policies, log);
  ASSERT_TRUE(started.ok());
  const Status ended = (*started)->Wait(std::chrono::seconds(10));
  EXPECT_EQ(ended.code(), StatusCode::kUnavailable);
  EXPECT_EQ(ServerProcess::Start(options, 0, policies, log).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(JobTest, AServerWithAnotherNumberOfShardsThanTheJobIsToldSo) {
  StartJob("bsp");
  ServerOptions options;
  options.scheduler = scheduler->address();
  options.link.secret = kJobSecret;
  for (const std::uint32_t shards : {1U, 3U}) {
    Result<std::unique_ptr<ServerProcess>> started = ServerProcess::Start(options, shards, policies, log);
    ASSERT_TRUE(started.ok()) << started.status().ToString();
    const Status ended = (*started)->Wait(std::chrono::seconds(300));
    EXPECT_EQ(ended.code(), StatusCode::kInvalidArgument) << ended.ToString();
    EXPECT_THAT(ended.message(), HasSubstr("--shards 2"));
  }
}

// A greeting that does not come must leave time for TCP before the link gives up and begins again.
TEST(LimitsTest, AGreetingTakesAtMostHalfOfTheTimeForAHello) {
  EXPECT_LE(2 * StreamOptions().greeting_max, LinkOptions().hello_timeout);
}

}  // namespace
}  // namespace leeway::testing
