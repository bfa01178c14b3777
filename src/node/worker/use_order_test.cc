#include "node/worker/use_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace leeway {
namespace {

using ::testing::ElementsAre;

class UseOrderTest : public ::testing::Test {
 protected:
  bool Iteration(std::initializer_list<std::uint32_t> tables) {
    for (const std::uint32_t table : tables) order.NoteUse(TableId(table));
    return order.EndIteration();
  }
  std::vector<int> Priorities(std::initializer_list<std::uint32_t> tables) const {
    std::vector<int> priorities;
    for (const std::uint32_t table : tables) priorities.push_back(order.PriorityOf(TableId(table)));
    return priorities;
  }
  UseOrder order;
};

TEST_F(UseOrderTest, TablesHavePrioritiesByTheirFirstUse) {
  EXPECT_THAT(Priorities({0, 1}), ElementsAre(255, 255)) << "nothing is known yet";
  EXPECT_TRUE(Iteration({2, 0, 2, 1}));
  EXPECT_THAT(Priorities({2, 0, 1, 7}), ElementsAre(0, 127, 255, 255));
}

TEST_F(UseOrderTest, TheFirstIterationsCorrectTheOrderAndLaterOnesDoNot) {
  (void)Iteration({0, 1, 2});
  (void)Iteration({1, 0, 2});
  EXPECT_THAT(Priorities({1, 0, 2}), ElementsAre(0, 127, 255));
  (void)Iteration({2, 1, 0});
  EXPECT_FALSE(Iteration({0, 1, 2})) << "learned";
  EXPECT_THAT(Priorities({2, 1, 0}), ElementsAre(0, 127, 255));
}

TEST_F(UseOrderTest, TablesThatComeLaterFollowTheOthers) {
  (void)Iteration({0, 1});
  EXPECT_TRUE(Iteration({2})) << "of another optimizer, perhaps";
  EXPECT_THAT(Priorities({0, 1, 2}), ElementsAre(0, 127, 255));
  for (int i = 0; i < UseOrder::kIterations; ++i) (void)Iteration({0, 1, 2});
  EXPECT_TRUE(Iteration({3, 0}));
  EXPECT_THAT(Priorities({0, 3}), ElementsAre(0, 255));
}

TEST_F(UseOrderTest, TheClientMayKnowBetter) {
  order.NoteUse(TableId(1));
  const std::vector<TableId> all{TableId(0), TableId(1)};
  order.NoteAllUses(all);
  EXPECT_TRUE(order.EndIteration());
  EXPECT_THAT(Priorities({0, 1}), ElementsAre(0, 255));
}

}  // namespace
}  // namespace leeway
