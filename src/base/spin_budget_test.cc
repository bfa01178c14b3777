#include "base/spin_budget.h"

#include <gtest/gtest.h>

namespace leeway {
namespace {

// Time passes with every look at the clock.
class HandMadeWorld final : public SpinWorld {
 public:
  [[nodiscard]] std::int64_t NowNs() const override { return now_ns += 500; }
  [[nodiscard]] std::int64_t Preemptions() const override { return preemptions; }
  [[nodiscard]] int Cores() const override { return cores; }
  mutable std::int64_t now_ns = 0;
  std::int64_t preemptions = 0;
  int cores = 2;
};

class SpinBudgetTest : public ::testing::Test {
 protected:
  // Whether it looked at all.
  bool Misses() {
    int looks = 0;
    EXPECT_FALSE(spin.Spin([&] { return ++looks < 0; }));
    return looks > 0;
  }
  bool Hits() {
    int looks = 0;
    return spin.Spin([&] { return ++looks == 40; });
  }
  bool AtOnce() {
    return spin.Spin([] { return true; });
  }

  HandMadeWorld world;
  SpinBudget::Options options;
  SpinBudget spin{world};
};

TEST_F(SpinBudgetTest, WhatIsReadyInTimeIsFound) {
  int looks = 0;
  EXPECT_TRUE(spin.Spin([&] { return ++looks == 40; }));
  EXPECT_EQ(looks, 40);
}

TEST_F(SpinBudgetTest, ASpinEndsWithItsBudget) {
  const std::int64_t before = world.now_ns;
  EXPECT_TRUE(Misses());
  EXPECT_GE(world.now_ns - before, options.most_ns);
  EXPECT_LE(world.now_ns - before, options.most_ns + 2'000);
}

TEST_F(SpinBudgetTest, MissesShortenItAndThenItRests) {
  EXPECT_TRUE(Misses());
  EXPECT_EQ(spin.budget_ns(), options.most_ns / 2);
  EXPECT_TRUE(Misses());
  EXPECT_TRUE(Misses());
  EXPECT_EQ(spin.budget_ns(), 0);
  for (int i = 0; i < options.rest_min; ++i) EXPECT_FALSE(Misses()) << i;
  EXPECT_EQ(spin.budget_ns(), options.most_ns) << "a try that counts";
  EXPECT_TRUE(Misses()) << "tries again after its rest";
  EXPECT_FALSE(Misses()) << "once";
}

TEST_F(SpinBudgetTest, RestsGrowWhileNothingIsFoundAndShrinkWithASuccess) {
  const auto rest = [&](int misses) {
    for (int i = 0; i < misses; ++i) EXPECT_TRUE(Misses());
    std::int64_t rested = 0;
    while (spin.budget_ns() == 0) {
      EXPECT_FALSE(Misses());
      ++rested;
    }
    return rested;
  };
  EXPECT_EQ(rest(options.misses_max), options.rest_min);
  EXPECT_EQ(rest(1), 2 * options.rest_min);
  EXPECT_TRUE(Hits());
  EXPECT_EQ(rest(options.misses_max), options.rest_min);
}

TEST_F(SpinBudgetTest, ASuccessGivesTheBudgetBack) {
  EXPECT_TRUE(Misses());
  EXPECT_TRUE(Misses());
  EXPECT_TRUE(Hits());
  EXPECT_TRUE(Hits());
  EXPECT_EQ(spin.budget_ns(), options.most_ns);
}

TEST_F(SpinBudgetTest, OneThatWasPreemptedDoesNotSpinForAWhileLongerEachTime) {
  const auto preempted = [&](bool found) {
    int looks = 0;
    return spin.Spin([&] {
      if (++looks == 100) ++world.preemptions;
      return found && looks == 101;
    });
  };
  bool found = false;  // the thread that took the core may be the awaited one
  for (std::int64_t rest_ns = options.preempted_rest_min_ns; rest_ns < 5 * options.preempted_rest_min_ns;
       rest_ns *= 2) {
    EXPECT_EQ(preempted(found), found);
    found = !found;
    world.now_ns += rest_ns - 2'000;
    EXPECT_FALSE(Hits());
    world.now_ns += 2'000;
    EXPECT_TRUE(AtOnce());
  }
  EXPECT_TRUE(Hits());
  EXPECT_FALSE(preempted(false));
  world.now_ns += options.preempted_rest_min_ns;
  EXPECT_TRUE(Hits()) << "a success makes the rest short again";
}

TEST_F(SpinBudgetTest, WhatHappenedBeforeASpinDoesNotCount) {
  world.preemptions = 5;
  EXPECT_TRUE(Misses());
  world.preemptions = 9;
  EXPECT_TRUE(Misses());
}

TEST_F(SpinBudgetTest, WhereWhatComesTakesLongItSpinsForLess) {
  const auto spun_ns = [&] {
    const std::int64_t before = world.now_ns;
    EXPECT_TRUE(Misses());
    return world.now_ns - before;
  };
  for (int i = 0; i < 20; ++i) spin.NoteWork(2 * options.heavy_ns);
  EXPECT_LE(spun_ns(), options.heavy_most_ns + 2'000);
  for (int i = 0; i < 20; ++i) spin.NoteWork(options.heavy_ns / 10);
  EXPECT_GE(spun_ns(), options.most_ns / 2);
  spin.NoteWork(1'000'000'000);
  for (int i = 0; i < 8; ++i) spin.NoteWork(options.heavy_ns / 10);
  EXPECT_TRUE(Hits());
  EXPECT_GE(spun_ns(), options.most_ns / 4) << "one that lost its core once is soon forgotten";
}

TEST_F(SpinBudgetTest, OnOneSharedCoreItNeverSpins) {
  world.cores = 1;
  SpinBudget alone(world);
  EXPECT_TRUE(alone.Spin([] { return true; })) << "a core of its own";
  SpinBudget shared(world);
  shared.SetShared(true);
  EXPECT_FALSE(shared.Spin([] { return true; }));
}

}  // namespace
}  // namespace leeway
