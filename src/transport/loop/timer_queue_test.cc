#include "transport/loop/timer_queue.h"

#include <gtest/gtest.h>

#include <string>

namespace leeway {
namespace {

TimePoint TimerMs(int ms) { return TimePoint(std::chrono::milliseconds(ms)); }

TEST(TimerQueueTest, FiresInOrderOfTimeThenOfAdding) {
  TimerQueue timers;
  std::string order;
  timers.Add(TimerMs(5), [&] { order += 'c'; });
  timers.Add(TimerMs(3), [&] { order += 'a'; });
  timers.Add(TimerMs(3), [&] { order += 'b'; });
  EXPECT_EQ(timers.Next(), TimerMs(3));
  EXPECT_FALSE(timers.TakeDue(TimerMs(2)));
  while (auto fire = timers.TakeDue(TimerMs(4))) fire();
  EXPECT_EQ(order, "ab");
  EXPECT_EQ(timers.Next(), TimerMs(5));
}

TEST(TimerQueueTest, ACancelledTimerNeverFiresAndCancellingTwiceIsHarmless) {
  TimerQueue timers;
  const TimerId first = timers.Add(TimerMs(1), [] {});
  bool fired = false;
  timers.Add(TimerMs(1), [&] { fired = true; });
  timers.Cancel(first);
  timers.Cancel(first);
  timers.Cancel(TimerId(0));
  timers.Cancel(TimerId(99));
  timers.TakeDue(TimerMs(1))();
  EXPECT_TRUE(fired);
  EXPECT_FALSE(timers.TakeDue(TimerMs(1)));
  EXPECT_EQ(timers.Next(), std::nullopt);
}

TEST(TimerQueueTest, ATimerMayAddAnother) {
  TimerQueue timers;
  int rounds = 0;
  std::function<void()> again = [&] {
    if (++rounds < 3) timers.Add(TimerMs(1), again);
  };
  timers.Add(TimerMs(1), again);
  while (auto fire = timers.TakeDue(TimerMs(1))) fire();
  EXPECT_EQ(rounds, 3);
}

}  // namespace
}  // namespace leeway
