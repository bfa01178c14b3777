#include "node/connection_table.h"

#include <gtest/gtest.h>

#include <map>

#include "base/hash.h"

namespace leeway {
namespace {

ConnectionId Use(std::uint64_t use, std::uint64_t slot) { return MakeConnectionId(use, slot); }

TEST(ConnectionTableTest, ASlotThatIsUsedAgainIsAnotherConnection) {
  ConnectionTable<int> table;
  table[Use(1, 5)] = 1;
  EXPECT_EQ(table.Find(Use(2, 5)), nullptr);
  EXPECT_TRUE(table.Erase(Use(1, 5)));
  table[Use(2, 5)] = 2;
  EXPECT_EQ(table.Find(Use(1, 5)), nullptr);
  EXPECT_FALSE(table.Erase(Use(1, 5)));
  EXPECT_EQ(*table.Find(Use(2, 5)), 2);
  EXPECT_EQ(table.size(), 1U);
}

TEST(ConnectionTableTest, TheEntryOfAnEarlierUseOfASlotStaysUntilItIsErased) {
  ConnectionTable<int> table;
  table[Use(1, 5)] = 1;
  table[Use(2, 5)] = 2;
  EXPECT_EQ(*table.Find(Use(1, 5)), 1);
  EXPECT_EQ(*table.Find(Use(2, 5)), 2);
  EXPECT_TRUE(table.Erase(Use(1, 5)));
  EXPECT_EQ(table.Find(Use(1, 5)), nullptr);
  EXPECT_EQ(*table.Find(Use(2, 5)), 2);
}

TEST(ConnectionTableTest, NoConnectionHasNoEntry) {
  ConnectionTable<int> table;
  table[Use(1, 3)] = 1;
  EXPECT_EQ(table.Find(ConnectionId{}), nullptr);
  EXPECT_FALSE(table.Erase(ConnectionId{}));
  EXPECT_EQ(table.size(), 1U);
}

TEST(ConnectionTableTest, EntriesStayWhereTheyAre) {
  ConnectionTable<int> table;
  int* const first = &table[Use(1, 0)];
  for (std::uint64_t slot = 1; slot < 1000; ++slot) table[Use(1, slot)] = 0;
  EXPECT_EQ(table.Find(Use(1, 0)), first);
}

// Slots near and far, taken and taken again while old entries are still there.
TEST(ConnectionTableTest, IsAMapWhateverComesAndGoes) {
  ConnectionTable<std::uint64_t> table;
  std::map<ConnectionId, std::uint64_t> wanted;
  for (std::uint64_t step = 1; step <= 20'000; ++step) {
    const std::uint64_t bits = Hash64({7, step});
    const std::uint64_t slot = bits % 8 == 0 ? 100'000 + bits / 8 % 50 : bits / 8 % 200;
    const ConnectionId id = Use(1 + bits / 4096 % 3, slot);
    if (bits / 1024 % 3 == 0) {
      ASSERT_EQ(table.Erase(id), wanted.erase(id) > 0) << "step " << step;
    } else {
      table[id] = wanted[id] = step;
    }
    const std::uint64_t* const found = table.Find(id);
    ASSERT_EQ(found != nullptr, wanted.contains(id)) << "step " << step;
    if (found != nullptr) {
      ASSERT_EQ(*found, wanted[id]);
    }
    ASSERT_EQ(table.size(), wanted.size());
  }
  std::vector<ConnectionId> ids;
  for (const auto& [id, value] : wanted) {
    ids.push_back(id);
    EXPECT_EQ(*table.Find(id), value);
  }
  EXPECT_EQ(table.Ids(), ids);
}

}  // namespace
}  // namespace leeway
