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

class AskedNode final : public CallQueue::Node {
 public:
  [[nodiscard]] bool OnNodeThread() const override {
    EXPECT_FALSE(gone);
    return thread == std::this_thread::get_id();
  }
  void AskForMakeAll() override {
    EXPECT_FALSE(gone);
    ++asked;
  }
  void BeginCalls() override { ++batches; }
  void EndCalls() override { ++batches_ended; }
  bool gone = false;
  std::thread::id thread;  // none yet
  std::atomic<int> asked{0};
  int batches = 0, batches_ended = 0;
};

class CallQueueTest : public ::testing::Test {
 protected:
  // As a thread that is not the node's.
  static Status PushFromOutside(CallQueue& queue, CallQueue::Call call,
                                std::chrono::milliseconds limit = kNoWait) {
    Status status;
    std::thread([&] { status = queue.Push(std::move(call), limit); }).join();
    return status;
  }

  // A call that notes its number.
  CallQueue::Call Numbered(int number) {
    return [this, number] { made.push_back(number); };
  }

  AskedNode node;
  std::vector<int> made;
};

TEST_F(CallQueueTest, CallsAreMadeInTheirOrderAndInOneBatch) {
  CallQueue queue(10, node);
  queue.MakeAll();
  EXPECT_EQ(node.batches, 0);
  for (int i = 1; i <= 3; ++i) ASSERT_TRUE(queue.Push(Numbered(i), kNoWait).ok());
  queue.MakeAll();
  EXPECT_EQ(made, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(node.batches, 1);
  EXPECT_EQ(node.batches_ended, 1);
}

TEST_F(CallQueueTest, TheNodeIsAskedOnceForAllCallsThatWait) {
  CallQueue queue(10, node);
  for (int i = 1; i <= 3; ++i) ASSERT_TRUE(queue.Push(Numbered(i), kNoWait).ok());
  EXPECT_EQ(node.asked, 1);
  queue.MakeAll();
  ASSERT_TRUE(queue.Push(Numbered(4), kNoWait).ok());
  EXPECT_EQ(node.asked, 2);
}

TEST_F(CallQueueTest, ACallMayQueueAnother) {
  CallQueue queue(10, node);
  int ran = 0;
  ASSERT_TRUE(queue.Push([&] { (void)queue.Push([&] { ++ran; }, kNoWait); }, kNoWait).ok());
  queue.MakeAll();
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(node.asked, 2);
  queue.MakeAll();
  EXPECT_EQ(ran, 1);
}

TEST_F(CallQueueTest, AFullQueueRefusesAfterItsLimitAndSaysSo) {
  CallQueue queue(2, node);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(queue.Push(Numbered(1), kNoWait).ok());
  const Status full = queue.Push(Numbered(1), kNoWait);
  EXPECT_EQ(full.code(), StatusCode::kResourceExhausted);
  queue.MakeAll();
  EXPECT_TRUE(queue.Push(Numbered(1), kNoWait).ok());
}

TEST_F(CallQueueTest, TheNodesOwnThreadDoesNotWaitForItselfAndKeepsItsOrder) {
  CallQueue queue(2, node);
  node.thread = std::this_thread::get_id();
  for (int i = 1; i <= 4; ++i) ASSERT_TRUE(queue.Push(Numbered(i), std::chrono::seconds(60)).ok()) << i;
  EXPECT_EQ(queue.Push(Numbered(5), std::chrono::seconds(60)).code(), StatusCode::kResourceExhausted);
  queue.MakeAll();
  EXPECT_EQ(made, (std::vector<int>{1, 2, 3, 4}));
}

TEST_F(CallQueueTest, RoomComesBackWhenTheNodeBegins) {
  CallQueue queue(1, node);
  bool room = false;
  ASSERT_TRUE(queue.Push([&] { room = PushFromOutside(queue, Numbered(1)).ok(); }, kNoWait).ok());
  queue.MakeAll();
  EXPECT_TRUE(room);
}

TEST_F(CallQueueTest, ACallThatWasMadeHoldsNothingAnyMore) {
  CallQueue queue(10, node);
  auto held = std::make_shared<int>(1);
  ASSERT_TRUE(queue.Push([held] {}, kNoWait).ok());
  ASSERT_TRUE(queue.Push([&] { EXPECT_EQ(held.use_count(), 1); }, kNoWait).ok());
  queue.MakeAll();
}

TEST_F(CallQueueTest, AWaitingPushGetsItsRoom) {
  CallQueue queue(1, node);
  ASSERT_TRUE(queue.Push(Numbered(1), kNoWait).ok());
  std::thread maker([&] {
    while (made.empty()) queue.MakeAll();
  });
  EXPECT_TRUE(queue.Push(Numbered(2), std::chrono::seconds(60)).ok());
  maker.join();
}

TEST_F(CallQueueTest, CallsOfManyThreadsAreAllMadeAndEachThreadsInOrder) {
  constexpr int kThreads = 3;
  constexpr int kEach = 20'000;
  CallQueue queue(8, node);
  std::vector<std::thread> callers;
  for (int t = 0; t < kThreads; ++t) {
    callers.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        ASSERT_TRUE(queue.Push(Numbered(i * kThreads + t), std::chrono::seconds(60)).ok());
      }
    });
  }
  std::thread maker([&] {
    for (int answered = 0; made.size() < kThreads * kEach;) {
      if (node.asked == answered) {
        std::this_thread::yield();
        continue;
      }
      ++answered;
      queue.MakeAll();
    }
  });
  for (std::thread& caller : callers) caller.join();
  maker.join();
  int next[kThreads] = {};
  for (const int number : made) ASSERT_EQ(number / kThreads, next[number % kThreads]++);
}

TEST_F(CallQueueTest, AClosedQueueRefusesAndDropsWhatItHeld) {
  CallQueue queue(10, node);
  auto held = std::make_shared<int>(1);
  ASSERT_TRUE(queue.Push([held] {}, kNoWait).ok());
  queue.Close(Cancelled("closed"));
  node.gone = true;  // a queue that is closed asks it no more
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(queue.Push(Numbered(1), kNoWait).code(), StatusCode::kCancelled);
}

}  // namespace
}  // namespace leeway
