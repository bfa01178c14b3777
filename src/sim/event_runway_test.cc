#include "sim/event_runway.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "sim/seeded_random.h"

namespace leeway::sim {
namespace {

using Entry = EventHeap::Entry;

std::vector<Entry> All(const EventRunway& runway) {
  std::vector<Entry> all;
  for (std::size_t i = 0; i < runway.size(); ++i) all.push_back(runway[i]);
  return all;
}

TEST(EventRunwayTest, AnEventTakesItsPlaceByTimeAndThenByScheduling) {
  EventRunway runway;
  runway.PushBack(Entry(Duration(10), 1, false, 0));
  runway.PushBack(Entry(Duration(30), 2, true, 1));
  EXPECT_EQ(runway.Insert(Entry(Duration(10), 3, false, 2)), 1U) << "after the one that was scheduled before";
  EXPECT_EQ(runway.Insert(Entry(Duration(5), 4, false, 3)), 0U);
  EXPECT_EQ(runway.front().slot(), 3U);
  EXPECT_EQ(runway.back().slot(), 1U);
  EXPECT_TRUE(runway.back().foreseen());
  EXPECT_FALSE(runway.front().foreseen());
}

TEST(EventRunwayTest, StaysInOrderWhateverComesAndGoes) {
  EventRunway runway;
  std::vector<Entry> wanted;
  SeededRandom random(3);
  std::uint64_t sequence = 0;
  for (int step = 0; step < 10'000; ++step) {
    const std::uint64_t what = random.Below(16);
    if (what < 8 && !runway.full()) {
      const Entry entry(Duration(random.Below(100)), sequence++, false, 0);
      const auto at = std::ranges::upper_bound(wanted, entry, std::less<>());
      ASSERT_EQ(runway.Insert(entry), static_cast<std::size_t>(at - wanted.begin()));
      wanted.insert(at, entry);
    } else if (what < 12 && !runway.empty()) {
      runway.PopFront();
      wanted.erase(wanted.begin());
    } else if (what < 15 && !runway.empty()) {
      runway.PopBack();
      wanted.pop_back();
    } else if (what == 15) {
      const auto is_out = [](const Entry& entry) { return entry.when.count() % 5 == 0; };
      runway.EraseIf(is_out);
      std::erase_if(wanted, is_out);
    }
    const std::vector<Entry> all = All(runway);
    ASSERT_TRUE(std::ranges::equal(all, wanted, {}, &Entry::sequence_slot, &Entry::sequence_slot));
  }
}

TEST(EventRunwayTest, WhatIsOutLeavesTheOthersInOrder) {
  EventRunway runway;
  for (std::uint32_t i = 0; i < 6; ++i) runway.PushBack(Entry(Duration(i), i, false, i));
  runway.EraseIf([](const Entry& entry) { return entry.slot() % 2 == 0; });
  ASSERT_EQ(runway.size(), 3U);
  EXPECT_EQ(runway[0].slot(), 1U);
  EXPECT_EQ(runway[2].slot(), 5U);
}

}  // namespace
}  // namespace leeway::sim
