#include "sim/event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/seeded_random.h"

namespace leeway::sim {
namespace {

using std::chrono::milliseconds;

TEST(EventQueueTest, EventsRunInOrderOfTimeThenOfScheduling) {
  EventQueue queue;
  std::string order;
  queue.At(milliseconds(2), [&] { order += 'c'; });
  queue.At(milliseconds(1), [&] { order += 'a'; });
  queue.At(milliseconds(2), [&] { order += 'd'; });
  queue.At(milliseconds(1), [&] { order += 'b'; });
  while (queue.RunOne()) {
  }
  EXPECT_EQ(order, "abcd");
  EXPECT_EQ(queue.now(), milliseconds(2));
}

TEST(EventQueueTest, AnEventInThePastRunsNowAndTimeNeverGoesBack) {
  EventQueue queue;
  std::vector<Duration> times;
  queue.At(milliseconds(5), [&] { queue.At(milliseconds(1), [&] { times.push_back(queue.now()); }); });
  while (queue.RunOne()) {
  }
  EXPECT_EQ(times, std::vector<Duration>{milliseconds(5)});
}

TEST(EventQueueTest, ACancelledEventDoesNotRunAndItsIdDoesNotCancelALaterOne) {
  EventQueue queue;
  int ran = 0;
  const EventId first = queue.After(milliseconds(1), [&] { ran += 1; });
  queue.Cancel(first);
  EXPECT_EQ(queue.pending(), 0U);
  EXPECT_FALSE(queue.RunOne());
  // The slot is free again now; the old id must not reach the event that took it.
  queue.After(milliseconds(1), [&] { ran += 10; });
  queue.Cancel(first);
  queue.Cancel(EventId(0));
  EXPECT_TRUE(queue.RunOne());
  EXPECT_EQ(ran, 10);
}

TEST(EventQueueTest, AnEventMayScheduleAndCancelOthersWhileItRuns) {
  EventQueue queue;
  std::string order;
  const EventId doomed = queue.At(milliseconds(3), [&] { order += 'x'; });
  queue.At(milliseconds(1), [&] {
    for (int i = 0; i < 100; ++i) queue.At(milliseconds(2), [&] { order += '.'; });
    queue.Cancel(doomed);
  });
  while (queue.RunOne()) {
  }
  EXPECT_EQ(order, std::string(100, '.'));
  EXPECT_EQ(queue.events_run(), 101U);
}

TEST(EventQueueTest, InAnyMixOfTimesAndCancelsTheOrderIsThatOfAStableSort) {
  EventQueue queue;
  SeededRandom random(7);
  struct Planned {
    Duration when;
    int number;
    EventId id;
  };
  std::vector<Planned> planned;
  std::vector<int> ran;
  for (int i = 0; i < 20'000; ++i) {
    const Duration when = milliseconds(random.Below(500));
    planned.push_back({when, i, queue.At(when, [&ran, i] { ran.push_back(i); })});
  }
  // Most are cancelled, so that they are swept out while others are pending.
  std::erase_if(planned, [&](const Planned& event) {
    if (random.Below(4) == 0) return false;
    queue.Cancel(event.id);
    return true;
  });
  EXPECT_EQ(queue.pending(), planned.size());
  for (int i = 20'000; i < 21'000; ++i) {
    const Duration when = milliseconds(random.Below(500));
    planned.push_back({when, i, queue.At(when, [&ran, i] { ran.push_back(i); })});
  }
  while (queue.RunOne()) {
  }
  std::ranges::stable_sort(planned, {}, &Planned::when);
  std::vector<int> wanted;
  for (const Planned& event : planned) wanted.push_back(event.number);
  EXPECT_EQ(ran, wanted);
}

// Near and far, in one instant and in many, by events that run while thousands of others are far away.
TEST(EventQueueTest, WhatEventsScheduleRunsInItsPlaceAmongTheOthers) {
  EventQueue queue;
  SeededRandom random(11);
  std::map<std::pair<Duration, int>, EventId> pending;  // by time and order of scheduling
  int scheduled = 0;
  std::size_t out_of_order = 0;
  std::function<void(Duration)> schedule = [&](Duration when) {
    const std::pair key(when, scheduled++);
    pending[key] = queue.At(when, [&, key] {
      if (pending.begin()->first != key || queue.now() != key.first) ++out_of_order;
      pending.erase(key);
      for (std::uint64_t more = scheduled < 50'000 ? 1 + random.Below(2) : 0; more > 0; --more) {
        const bool far = random.Below(10) == 0;
        schedule(queue.now() + milliseconds(random.Below(far ? 100'000 : 20)));
      }
      if (random.Below(8) > 0 || pending.empty()) return;
      const auto doomed = random.Below(2) == 0 ? pending.begin() : std::prev(pending.end());
      queue.Cancel(doomed->second);
      pending.erase(doomed);
    });
  };
  for (int i = 0; i < 3000; ++i) schedule(milliseconds(random.Below(100'000)));
  while (queue.RunOne()) {
  }
  EXPECT_EQ(out_of_order, 0U);
  EXPECT_TRUE(pending.empty());
  EXPECT_EQ(queue.pending(), 0U);
}

TEST(EventQueueTest, NextSkipsWhatWasCancelled) {
  EventQueue queue;
  EXPECT_EQ(queue.next(), Duration::max());
  const EventId first = queue.At(milliseconds(1), [] {});
  queue.At(milliseconds(7), [] {});
  queue.Cancel(first);
  EXPECT_EQ(queue.next(), milliseconds(7));
}

}  // namespace
}  // namespace leeway::sim
