// leeway::Worker and the threads of its user: which of them runs what, and that nothing is lost between them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "leeway/worker.h"
#include "process/testing/worker_job.h"

namespace leeway::testing {
namespace {

using ::testing::Each;

using WorkerThreadsTest = WorkerJobTest;

TEST_F(WorkerThreadsTest, ThreadsThatPushWaitAndWanderOffLoseNothing) {
  JobOptions options;
  options.sync = "asp";
  StartJob(options);
  Join();
  constexpr int kThreads = 4, kRounds = 200;
  std::vector<TableId> tables;
  for (int t = 0; t < kThreads; ++t) {
    tables.push_back(MakeTable(
        {.name = "t" + std::to_string(t), .shape = {16}, .clock = TableClock::kOwn, .optimizer = "sum"},
        std::vector<float>(16, 0.0F)));
  }
  std::mutex calling;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<float> ones(16, 1.0F);
      std::vector<float> values(16);
      std::vector<Ticket> open;
      for (int i = 0; i < kRounds; ++i) {
        const Result<Ticket> ticket = [&] {
          const std::lock_guard one_at_a_time(calling);
          return worker->Push(tables[static_cast<std::size_t>(t)], ones);
        }();
        ASSERT_TRUE(ticket.ok()) << ticket.status().ToString();
        open.push_back(*ticket);
        // Some wait for each call, some for a few, and some go away for a while.
        if (i % (t + 1) != 0) continue;
        for (const Ticket one : open) ASSERT_TRUE(worker->Wait(one).ok());
        open.clear();
        if (i % 20 == t) std::this_thread::sleep_for(std::chrono::milliseconds(3));
      }
      for (const Ticket one : open) ASSERT_TRUE(worker->Wait(one).ok());
      const Result<Ticket> pull = [&] {
        const std::lock_guard one_at_a_time(calling);
        return worker->Pull(tables[static_cast<std::size_t>(t)], values);
      }();
      ASSERT_TRUE(pull.ok() && worker->Wait(*pull).ok());
      EXPECT_THAT(values, Each(static_cast<float>(kRounds)));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(WorkerThreadsTest, ThreadsMayWaitWhileAnotherShutsDown) {
  for (int round = 0; round < 5; ++round) {
    JobOptions options;
    options.sync = "asp";
    StartJob(options);
    Join();
    const TableId table =
        MakeTable({.name = "w", .shape = {4}, .clock = TableClock::kOwn, .optimizer = "sum"},
                  std::vector<float>(4, 0.0F));
    const std::vector<float> ones(4, 1.0F);
    constexpr Ticket kPushes = 100;
    std::vector<Ticket> tickets;
    for (Ticket i = 0; i < kPushes; ++i) {
      const Result<Ticket> ticket = worker->Push(table, ones);
      ASSERT_TRUE(ticket.ok());
      tickets.push_back(*ticket);
    }
    std::atomic<int> ended{0};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t i = t; i < tickets.size(); i += 3) {
          const Status outcome = worker->Wait(tickets[i]);
          EXPECT_TRUE(outcome.ok() || outcome.code() == StatusCode::kFailedPrecondition)
              << outcome.ToString();
          ++ended;
        }
      });
    }
    EXPECT_TRUE(worker->Shutdown().ok());
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(ended, static_cast<int>(kPushes));
    worker.reset();
    job.reset();
  }
}

TEST_F(WorkerThreadsTest, ACallbackRunsOnTheNodesThreadAndMayCallTheWorker) {
  JobOptions options;
  options.sync = "asp";
  StartJob(options);
  Join();
  const TableId table = MakeTable({.name = "w", .shape = {4}, .clock = TableClock::kOwn, .optimizer = "sum"},
                                  std::vector<float>(4, 0.0F));
  const std::vector<float> ones(4, 1.0F);
  std::atomic<int> calls{0};
  const std::thread::id waiting = std::this_thread::get_id();
  for (int i = 0; i < 100; ++i) {
    PushOptions how;
    how.done = [&](const Status& status) {
      EXPECT_TRUE(status.ok());
      EXPECT_NE(std::this_thread::get_id(), waiting);
      EXPECT_FALSE(worker->WaitingFor().find("does not answer") != std::string::npos);
      EXPECT_GE(worker->counters().pushes, 1U);
      if (worker->Push(table, ones).ok()) ++calls;
    };
    const Result<Ticket> ticket = worker->Push(table, ones, std::move(how));
    ASSERT_TRUE(ticket.ok() && worker->Wait(*ticket).ok());
  }
  EXPECT_EQ(calls, 100);
  std::vector<float> values(4);
  const Result<Ticket> pull = worker->Pull(table, values);
  ASSERT_TRUE(pull.ok() && worker->Wait(*pull).ok());
  EXPECT_THAT(values, Each(200.0F));
}

}  // namespace
}  // namespace leeway::testing
