#include "process/call_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/errors.h"

namespace leeway {
namespace {

constexpr std::chrono::milliseconds kNoWait{0};

// Runs functions; of other calls it notes their tickets.
class Runner final : public CallMaker {
 public:
  [[nodiscard]] bool OnNodeThread() const override { return node == std::this_thread::get_id(); }
  void AskForMakeAll() override { ++asked; }
  void BeginCalls() override { ++batches; }
  void Make(Call& call) override {
    if (call.kind == Call::Kind::kFunction) return call.function({});
    tickets.push_back(call.ticket);
  }
  void EndCalls() override { ++batches_ended; }
  std::thread::id node;  // none yet
  std::atomic<int> asked{0};
  int batches = 0, batches_ended = 0;
  std::vector<Ticket> tickets;
};

Call Numbered(Ticket ticket) {
  Call call;
  call.kind = Call::Kind::kPush;
  call.ticket = ticket;
  return call;
}

class CallQueueTest : public ::testing::Test {
 protected:
  // As a thread that is not the node's.
  static Status PushFromOutside(CallQueue& queue, Call call, std::chrono::milliseconds limit = kNoWait) {
    Status status;
    std::thread([&] { status = queue.Push(std::move(call), limit); }).join();
    return status;
  }

  Runner runner;
};

TEST_F(CallQueueTest, CallsOfAllKindsAreMadeInOneOrderAndOneBatch) {
  CallQueue queue(10, runner);
  queue.MakeAll();
  EXPECT_EQ(runner.batches, 0);
  for (Ticket i = 1; i <= 3; ++i) {
    ASSERT_TRUE(queue.Push(Numbered(i), kNoWait).ok());
    ASSERT_TRUE(queue.Push(Call::Of([this, i] { runner.tickets.push_back(10 * i); }), kNoWait).ok());
  }
  queue.MakeAll();
  EXPECT_EQ(runner.tickets, (std::vector<Ticket>{1, 10, 2, 20, 3, 30}));
  EXPECT_EQ(runner.batches, 1);
  EXPECT_EQ(runner.batches_ended, 1);
}

TEST_F(CallQueueTest, TheNodeIsAskedOnceForAllCallsThatWait) {
  CallQueue queue(10, runner);
  for (Ticket i = 1; i <= 3; ++i) ASSERT_TRUE(queue.Push(Numbered(i), kNoWait).ok());
  EXPECT_EQ(runner.asked, 1);
  queue.MakeAll();
  ASSERT_TRUE(queue.Push(Numbered(4), kNoWait).ok());
  EXPECT_EQ(runner.asked, 2);
}

TEST_F(CallQueueTest, ACallMayQueueAnother) {
  CallQueue queue(10, runner);
  int ran = 0;
  ASSERT_TRUE(
      queue.Push(Call::Of([&] { (void)queue.Push(Call::Of([&] { ++ran; }), kNoWait); }), kNoWait).ok());
  queue.MakeAll();
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(runner.asked, 2);
  queue.MakeAll();
  EXPECT_EQ(ran, 1);
}

TEST_F(CallQueueTest, AFullQueueRefusesAfterItsLimitAndSaysSo) {
  CallQueue queue(2, runner);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(queue.Push(Numbered(1), kNoWait).ok());
  const Status full = queue.Push(Numbered(1), kNoWait);
  EXPECT_EQ(full.code(), StatusCode::kResourceExhausted);
  queue.MakeAll();
  EXPECT_TRUE(queue.Push(Numbered(1), kNoWait).ok());
}

TEST_F(CallQueueTest, TheNodesOwnThreadDoesNotWaitForItselfAndKeepsItsOrder) {
  CallQueue queue(2, runner);
  runner.node = std::this_thread::get_id();
  for (Ticket i = 1; i <= 4; ++i) ASSERT_TRUE(queue.Push(Numbered(i), std::chrono::seconds(60)).ok()) << i;
  EXPECT_EQ(queue.Push(Numbered(5), std::chrono::seconds(60)).code(), StatusCode::kResourceExhausted);
  queue.MakeAll();
  EXPECT_EQ(runner.tickets, (std::vector<Ticket>{1, 2, 3, 4}));
}

TEST_F(CallQueueTest, RoomComesBackWhenTheNodeBegins) {
  CallQueue queue(1, runner);
  bool room = false;
  ASSERT_TRUE(queue.Push(Call::Of([&] { room = PushFromOutside(queue, Numbered(1)).ok(); }), kNoWait).ok());
  queue.MakeAll();
  EXPECT_TRUE(room);
}

TEST_F(CallQueueTest, ACallThatWasMadeHoldsNothingAnyMore) {
  CallQueue queue(10, runner);
  auto held = std::make_shared<int>(1);
  ASSERT_TRUE(queue.Push(Call::Of([held] {}), kNoWait).ok());
  ASSERT_TRUE(queue.Push(Call::Of([&] { EXPECT_EQ(held.use_count(), 1); }), kNoWait).ok());
  queue.MakeAll();
}

TEST_F(CallQueueTest, AWaitingPushGetsItsRoom) {
  CallQueue queue(1, runner);
  ASSERT_TRUE(queue.Push(Numbered(1), kNoWait).ok());
  std::thread node([&] {
    while (runner.tickets.empty()) queue.MakeAll();
  });
  EXPECT_TRUE(queue.Push(Numbered(2), std::chrono::seconds(60)).ok());
  node.join();
}

TEST_F(CallQueueTest, CallsOfManyThreadsAreAllMadeAndEachThreadsInOrder) {
  constexpr int kThreads = 3;
  constexpr Ticket kEach = 20'000;
  CallQueue queue(8, runner);
  std::vector<std::thread> callers;
  for (int t = 0; t < kThreads; ++t) {
    callers.emplace_back([&, t] {
      for (Ticket i = 0; i < kEach; ++i) {
        ASSERT_TRUE(queue.Push(Numbered(i * kThreads + t), std::chrono::seconds(60)).ok());
      }
    });
  }
  std::thread node([&] {
    for (int answered = 0; runner.tickets.size() < kThreads * kEach;) {
      if (runner.asked == answered) {
        std::this_thread::yield();
        continue;
      }
      ++answered;
      queue.MakeAll();
    }
  });
  for (std::thread& caller : callers) caller.join();
  node.join();
  Ticket next[kThreads] = {};
  for (const Ticket ticket : runner.tickets) ASSERT_EQ(ticket / kThreads, next[ticket % kThreads]++);
}

TEST_F(CallQueueTest, AClosedQueueRefusesAndDropsWhatItHeld) {
  CallQueue queue(10, runner);
  auto held = std::make_shared<int>(1);
  ASSERT_TRUE(queue.Push(Call::Of([held] {}), kNoWait).ok());
  queue.Close(Cancelled("closed"));
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(queue.Push(Numbered(1), kNoWait).code(), StatusCode::kCancelled);
}

}  // namespace
}  // namespace leeway
