#include "process/call_queue.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/errors.h"

namespace leeway {
namespace {

constexpr std::chrono::milliseconds kNoWait{0};

bool IsReadable(int fd) {
  pollfd poller{fd, POLLIN, 0};
  return poll(&poller, 1, 0) == 1;
}

// Runs functions; of other calls it notes their tickets.
class Runner final : public CallMaker {
 public:
  void BeginCalls() override { ++batches; }
  void Make(Call& call) override {
    if (call.kind == Call::Kind::kFunction) return call.function({});
    tickets.push_back(call.ticket);
  }
  void EndCalls() override { ++batches_ended; }
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
  EXPECT_FALSE(queue.Poll());
  EXPECT_EQ(runner.batches, 0);
  for (Ticket i = 1; i <= 3; ++i) {
    ASSERT_TRUE(queue.Push(Numbered(i), kNoWait).ok());
    ASSERT_TRUE(queue.Push(Call::Of([this, i] { runner.tickets.push_back(10 * i); }), kNoWait).ok());
  }
  EXPECT_TRUE(queue.Poll());
  EXPECT_EQ(runner.tickets, (std::vector<Ticket>{1, 10, 2, 20, 3, 30}));
  EXPECT_EQ(runner.batches, 1);
  EXPECT_EQ(runner.batches_ended, 1);
}

TEST_F(CallQueueTest, OnlyASleepingNodeIsWokenAndOnlyOnce) {
  CallQueue queue(10, runner);
  queue.OnRunner(true);
  ASSERT_FALSE(queue.Poll());
  ASSERT_TRUE(PushFromOutside(queue, Numbered(1)).ok());
  EXPECT_FALSE(IsReadable(queue.fd())) << "the node is awake";
  EXPECT_FALSE(queue.MaySleep()) << "and must not sleep over a call";
  EXPECT_TRUE(queue.Poll());
  EXPECT_TRUE(queue.MaySleep());
  for (Ticket i = 2; i <= 3; ++i) ASSERT_TRUE(PushFromOutside(queue, Numbered(i)).ok());
  EXPECT_TRUE(IsReadable(queue.fd()));
  queue.OnReadable();
  EXPECT_FALSE(IsReadable(queue.fd()));
  EXPECT_TRUE(queue.Poll());
  ASSERT_TRUE(PushFromOutside(queue, Numbered(4)).ok());
  EXPECT_FALSE(IsReadable(queue.fd()));
  EXPECT_TRUE(queue.HasWork());
  EXPECT_TRUE(queue.Poll());
  EXPECT_FALSE(queue.HasWork());
  ASSERT_TRUE(queue.MaySleep());
  queue.OnAwake();
  ASSERT_TRUE(PushFromOutside(queue, Numbered(5)).ok());
  EXPECT_FALSE(IsReadable(queue.fd())) << "it was awake again";
}

TEST_F(CallQueueTest, ACallMayQueueAnother) {
  CallQueue queue(10, runner);
  int ran = 0;
  ASSERT_TRUE(
      queue.Push(Call::Of([&] { (void)queue.Push(Call::Of([&] { ++ran; }), kNoWait); }), kNoWait).ok());
  queue.Poll();
  EXPECT_EQ(ran, 0);
  EXPECT_FALSE(queue.MaySleep());
  queue.Poll();
  EXPECT_EQ(ran, 1);
}

TEST_F(CallQueueTest, AFullQueueRefusesAfterItsLimitAndSaysSo) {
  CallQueue queue(2, runner);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(queue.Push(Numbered(1), kNoWait).ok());
  const Status full = queue.Push(Numbered(1), kNoWait);
  EXPECT_EQ(full.code(), StatusCode::kResourceExhausted);
  queue.Poll();
  EXPECT_TRUE(queue.Push(Numbered(1), kNoWait).ok());
}

TEST_F(CallQueueTest, TheNodesOwnThreadDoesNotWaitForItselfAndKeepsItsOrder) {
  CallQueue queue(2, runner);
  queue.OnRunner(true);  // from now on this thread is the node's
  for (Ticket i = 1; i <= 4; ++i) ASSERT_TRUE(queue.Push(Numbered(i), std::chrono::seconds(60)).ok()) << i;
  EXPECT_EQ(queue.Push(Numbered(5), std::chrono::seconds(60)).code(), StatusCode::kResourceExhausted);
  EXPECT_FALSE(queue.MaySleep());
  queue.Poll();
  EXPECT_EQ(runner.tickets, (std::vector<Ticket>{1, 2, 3, 4}));
  EXPECT_TRUE(queue.MaySleep());
}

TEST_F(CallQueueTest, CallsThatCallsQueueKeepTheirOrderWhereTheRingIsFull) {
  CallQueue queue(2, runner);
  queue.OnRunner(true);
  std::vector<int> ran;
  const auto add = [&](int number) {
    return queue.Push(Call::Of([&ran, number] { ran.push_back(number); }), kNoWait);
  };
  // The ring has room for one more while the first is made, and none for the others.
  ASSERT_TRUE(queue
                  .Push(Call::Of([&] {
                          for (int i = 1; i <= 3; ++i) EXPECT_TRUE(add(i).ok());
                        }),
                        kNoWait)
                  .ok());
  while (queue.Poll()) {
  }
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3}));
}

TEST_F(CallQueueTest, WhatACallQueuesWhileTheRingIsFullIsWorkToo) {
  CallQueue queue(1, runner);
  queue.OnRunner(true);
  int ran = 0;
  ASSERT_TRUE(
      queue.Push(Call::Of([&] { EXPECT_TRUE(queue.Push(Call::Of([&] { ++ran; }), kNoWait).ok()); }), kNoWait)
          .ok());
  queue.Poll();
  EXPECT_EQ(ran, 0);
  EXPECT_TRUE(queue.HasWork());
  EXPECT_FALSE(queue.MaySleep());
  queue.Poll();
  EXPECT_EQ(ran, 1);
  EXPECT_FALSE(queue.HasWork());
}

TEST_F(CallQueueTest, RoomComesBackWhileALongBatchIsMade) {
  CallQueue queue(256, runner);
  int at = 0, first_room = 0;
  for (int i = 0; i < 256; ++i) {
    ASSERT_TRUE(queue
                    .Push(Call::Of([&] {
                            ++at;
                            if (first_room == 0 && PushFromOutside(queue, Numbered(1)).ok()) first_room = at;
                          }),
                          kNoWait)
                    .ok());
  }
  queue.Poll();
  EXPECT_EQ(at, 256);
  EXPECT_EQ(first_room, 65);
}

TEST_F(CallQueueTest, ACallThatWasMadeHoldsNothingAnyMore) {
  CallQueue queue(10, runner);
  auto held = std::make_shared<int>(1);
  ASSERT_TRUE(queue.Push(Call::Of([held] {}), kNoWait).ok());
  queue.Poll();
  EXPECT_EQ(held.use_count(), 1);
}

TEST_F(CallQueueTest, AWaitingPushGetsItsRoom) {
  CallQueue queue(1, runner);
  ASSERT_TRUE(queue.Push(Numbered(1), kNoWait).ok());
  std::thread node([&] {
    while (runner.tickets.empty()) queue.Poll();
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
    while (runner.tickets.size() < kThreads * kEach) {
      if (queue.Poll() || !queue.MaySleep()) continue;
      pollfd poller{queue.fd(), POLLIN, 0};
      ASSERT_EQ(poll(&poller, 1, 60'000), 1) << "slept over a call";
      queue.OnAwake();
      queue.OnReadable();
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
