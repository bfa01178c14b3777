#include "process/call_queue.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>
#include <vector>

#include "base/errors.h"

namespace leeway {
namespace {

constexpr std::chrono::milliseconds kNoWait{0};

bool IsReadable(int fd) {
  pollfd poller{fd, POLLIN, 0};
  return poll(&poller, 1, 0) == 1;
}

TEST(CallQueueTest, CallsRunInOrderAndOneSignalServesThemAll) {
  CallQueue queue(10);
  std::vector<int> ran;
  EXPECT_FALSE(IsReadable(queue.fd()));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.Push([&ran, i] { ran.push_back(i); }, kNoWait).ok());
  EXPECT_TRUE(IsReadable(queue.fd()));
  queue.RunAll();
  EXPECT_EQ(ran, (std::vector<int>{0, 1, 2}));
  EXPECT_FALSE(IsReadable(queue.fd()));
}

TEST(CallQueueTest, ACallMayQueueAnother) {
  CallQueue queue(10);
  int ran = 0;
  ASSERT_TRUE(queue.Push([&] { (void)queue.Push([&] { ++ran; }, kNoWait); }, kNoWait).ok());
  queue.RunAll();
  EXPECT_EQ(ran, 0);
  EXPECT_TRUE(IsReadable(queue.fd()));
  queue.RunAll();
  EXPECT_EQ(ran, 1);
}

TEST(CallQueueTest, AFullQueueRefusesAfterItsLimitAndSaysSo) {
  CallQueue queue(2);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(queue.Push([] {}, kNoWait).ok());
  const Status full = queue.Push([] {}, kNoWait);
  EXPECT_EQ(full.code(), StatusCode::kResourceExhausted);
  queue.RunAll();
  EXPECT_TRUE(queue.Push([] {}, kNoWait).ok());
}

TEST(CallQueueTest, AWaitingPushGetsItsRoom) {
  CallQueue queue(1);
  ASSERT_TRUE(queue.Push([] {}, kNoWait).ok());
  std::thread runner([&] { queue.RunAll(); });
  EXPECT_TRUE(queue.Push([] {}, std::chrono::seconds(60)).ok());
  runner.join();
}

TEST(CallQueueTest, AClosedQueueRefusesAndDropsWhatItHeld) {
  CallQueue queue(10);
  auto held = std::make_shared<int>(1);
  ASSERT_TRUE(queue.Push([held] {}, kNoWait).ok());
  queue.Close(Cancelled("closed"));
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(queue.Push([] {}, kNoWait).code(), StatusCode::kCancelled);
}

}  // namespace
}  // namespace leeway
