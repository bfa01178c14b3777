#include "block/rank_table.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/hash.h"
#include "block/rank_set.h"

namespace leeway {
namespace {

// Mostly dense ranks, and some that are far away.
WorkerId DrawRank(std::uint64_t random) {
  const std::uint64_t rank =
      random % 16 == 0 ? random / 16 % 5'000'000'000ULL % 4'294'967'295ULL : random / 16 % 300;
  return WorkerId(static_cast<WorkerId::rep>(rank));
}

TEST(RankTableTest, IsAMapWhateverTheRanks) {
  RankTable<int> table;
  std::map<WorkerId, int> plain;
  std::uint64_t random = 3;
  for (int round = 0; round < 5000; ++round) {
    random = Mix64(random);
    const WorkerId worker = DrawRank(random >> 8);
    if (random % 4 == 0) {
      table.Erase(worker);
      plain.erase(worker);
    } else {
      table[worker] += round;
      plain[worker] += round;
    }
    ASSERT_EQ(table.size(), plain.size());
    const WorkerId other = DrawRank(Mix64(random) >> 8);
    const int* const found = table.Find(other);
    const auto wanted = plain.find(other);
    ASSERT_EQ(found != nullptr, wanted != plain.end());
    if (found != nullptr) {
      ASSERT_EQ(*found, wanted->second);
    }
  }
  std::map<WorkerId, int> listed;
  WorkerId last{};
  table.ForEach([&](WorkerId worker, int value) {
    EXPECT_TRUE(listed.empty() || last < worker) << "by rank";
    last = worker;
    listed[worker] = value;
  });
  EXPECT_EQ(listed, plain);
}

TEST(RankSetTest, IsASetThatIsTakenFromByRank) {
  RankSet set;
  std::set<WorkerId> plain;
  std::uint64_t random = 5;
  for (int round = 0; round < 5000; ++round) {
    random = Mix64(random);
    const WorkerId worker = DrawRank(random >> 8);
    switch (random % 4) {
      case 0:
        set.Remove(worker);
        plain.erase(worker);
        break;
      case 1: {
        const std::optional<WorkerId> lowest = set.TakeLowest();
        ASSERT_EQ(lowest.has_value(), !plain.empty());
        if (!lowest) break;
        ASSERT_EQ(*lowest, *plain.begin());
        plain.erase(plain.begin());
        break;
      }
      default:
        set.Add(worker);
        plain.insert(worker);
    }
    ASSERT_EQ(set.size(), plain.size());
    ASSERT_EQ(set.empty(), plain.empty());
    const WorkerId other = DrawRank(Mix64(random) >> 8);
    ASSERT_EQ(set.Contains(worker), plain.contains(worker));
    ASSERT_EQ(set.Contains(other), plain.contains(other));
  }
}

}  // namespace
}  // namespace leeway
