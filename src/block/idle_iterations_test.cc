#include "block/idle_iterations.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace leeway {
namespace {

std::int64_t CountOwn(const IdleIterations& idle, std::int64_t first, std::int64_t last) {
  return idle.CountOwn(Iteration(first), Iteration(last));
}

TEST(IdleIterationsTest, WithoutMarksEveryIterationIsOwn) {
  IdleIterations idle;
  idle.AdvanceTo(Iteration(5));
  EXPECT_TRUE(idle.none());
  EXPECT_EQ(CountOwn(idle, 5, 9), 5);
  EXPECT_EQ(CountOwn(idle, 5, 4), 0);
  EXPECT_EQ(idle.NthOwn(0), Iteration(5));
  EXPECT_EQ(idle.NthOwn(3), Iteration(8));
  EXPECT_EQ(idle.Counted(Iteration(7)), Iteration(7));
}

TEST(IdleIterationsTest, IdleIterationsAreNotCounted) {
  IdleIterations idle;
  for (const int i : {1, 2, 4}) EXPECT_TRUE(idle.MarkIdle(Iteration(i)));
  EXPECT_FALSE(idle.MarkIdle(Iteration(4))) << "it was idle before";
  EXPECT_EQ(CountOwn(idle, 0, 4), 2);
  EXPECT_EQ(CountOwn(idle, 1, 2), 0);
  EXPECT_EQ(CountOwn(idle, 2, 3), 1);
  EXPECT_EQ(idle.NthOwn(0), Iteration(0));
  EXPECT_EQ(idle.NthOwn(1), Iteration(3));
  EXPECT_EQ(idle.NthOwn(2), Iteration(5));
  EXPECT_EQ(idle.Counted(Iteration(-1)), Iteration(-1));
  EXPECT_EQ(idle.Counted(Iteration(2)), Iteration(0));
  EXPECT_EQ(idle.Counted(Iteration(3)), Iteration(1));
}

TEST(IdleIterationsTest, AnOwnMarkWinsWhetherItComesBeforeOrAfter) {
  IdleIterations idle;
  EXPECT_TRUE(idle.MarkIdle(Iteration(0)));
  idle.MarkOwn(Iteration(1));
  EXPECT_FALSE(idle.MarkIdle(Iteration(1)));
  EXPECT_TRUE(idle.MarkIdle(Iteration(2)));
  idle.MarkOwn(Iteration(2));
  EXPECT_FALSE(idle.MarkIdle(Iteration(2)));
  EXPECT_EQ(CountOwn(idle, 0, 2), 2);
}

TEST(IdleIterationsTest, AnOwnMarkFromBeforeTheFirstIdleOneWinsToo) {
  IdleIterations idle;
  idle.MarkOwn(Iteration(3));
  EXPECT_FALSE(idle.MarkIdle(Iteration(3)));
  EXPECT_FALSE(idle.MarkIdle(Iteration(2))) << "the empty record keeps the highest own iteration alone";
  EXPECT_TRUE(idle.MarkIdle(Iteration(4)));
}

TEST(IdleIterationsTest, WhatIsPassedIsForgotten) {
  IdleIterations idle;
  for (const int i : {0, 1, 3}) idle.MarkIdle(Iteration(i));
  idle.AdvanceTo(Iteration(1));
  EXPECT_EQ(idle.NthOwn(0), Iteration(2));
  idle.AdvanceTo(Iteration(3));
  EXPECT_FALSE(idle.none());
  EXPECT_EQ(idle.NthOwn(0), Iteration(4));
  EXPECT_FALSE(idle.MarkIdle(Iteration(2)));
  idle.AdvanceTo(Iteration(1'000'000));
  EXPECT_TRUE(idle.none());
  EXPECT_EQ(idle.NthOwn(0), Iteration(1'000'000));
  EXPECT_EQ(CountOwn(idle, 0, 3), 4) << "below the record everything is own";
}

TEST(IdleIterationsTest, BeyondTheSpanAnIterationIsOwn) {
  IdleIterations idle;
  const std::int64_t span = IdleIterations::kSpan;
  EXPECT_FALSE(idle.MarkIdle(Iteration(span)));
  EXPECT_TRUE(idle.MarkIdle(Iteration(span - 1)));
  EXPECT_EQ(CountOwn(idle, 0, span), span);
  EXPECT_EQ(idle.NthOwn(span - 1), Iteration(span));
  // An own mark beyond the span wins over an idle one that comes when the record has moved on.
  idle.MarkOwn(Iteration(span + 5));
  idle.AdvanceTo(Iteration(10));
  EXPECT_FALSE(idle.MarkIdle(Iteration(span + 5)));
  EXPECT_EQ(idle.Counted(Iteration(std::int64_t{1} << 62)), Iteration((std::int64_t{1} << 62) - 1));
}

TEST(IdleIterationsTest, ItAnswersAsASetDoes) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    IdleIterations idle;
    std::set<std::int64_t> own, marked;
    std::int64_t from = 0;
    idle.MarkIdle(Iteration(0));  // the record is exact from the first idle mark on
    marked.insert(0);
    for (int step = 0; step < 300; ++step) {
      const auto i = from + static_cast<std::int64_t>(random() % (step < 150 ? 40 : 400));
      switch (random() % 4) {
        case 0:
          idle.MarkOwn(Iteration(i));
          own.insert(i);
          marked.erase(i);
          break;
        case 1:
          from += static_cast<std::int64_t>(random() % 5);
          idle.AdvanceTo(Iteration(from));
          std::erase_if(marked, [from](std::int64_t m) { return m < from; });
          break;
        default:
          EXPECT_EQ(idle.MarkIdle(Iteration(i)), !own.contains(i) && !marked.contains(i) && i >= from);
          if (i >= from && !own.contains(i)) marked.insert(i);
      }
      std::int64_t count = 0;
      for (std::int64_t j = from; j < from + 450; ++j) {
        if (marked.contains(j)) continue;
        if (count == step % 60) {
          ASSERT_EQ(idle.NthOwn(count), Iteration(j)) << "round " << round << " step " << step;
        }
        ++count;
        if (j == i) {
          ASSERT_EQ(CountOwn(idle, from, j), count);
        }
      }
      ASSERT_EQ(CountOwn(idle, from, from + 449), count);
      ASSERT_EQ(idle.none(), marked.empty());
    }
  }
}

}  // namespace
}  // namespace leeway
