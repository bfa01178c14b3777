#include "problem/normal_draw.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/hash.h"

namespace leeway::problem {
namespace {

TEST(NormalDrawTest, HasTheMomentsAndTheTailsOfTheNormalDistribution) {
  constexpr int kDraws = 1'000'000;
  double sum = 0, squares = 0, fourths = 0;
  int beyond_one = 0, beyond_three = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const double draw = NormalDraw(Mix64(2 * i), Mix64(2 * i + 1));
    sum += draw;
    squares += draw * draw;
    fourths += draw * draw * draw * draw;
    if (draw > 1) ++beyond_one;
    if (draw > 3) ++beyond_three;
  }
  EXPECT_NEAR(sum / kDraws, 0.0, 0.005);
  EXPECT_NEAR(squares / kDraws, 1.0, 0.005);
  EXPECT_NEAR(fourths / kDraws, 3.0, 0.06);
  EXPECT_NEAR(beyond_one / double{kDraws}, 0.15866, 0.002);
  EXPECT_NEAR(beyond_three / double{kDraws}, 0.00135, 0.0002);
}

TEST(NormalDrawTest, GivesTheSameBitsEverywhere) {
  EXPECT_EQ(NormalDraw(Mix64(1), Mix64(2)), NormalDraw(Mix64(1), Mix64(2)));
  EXPECT_EQ(NormalDraw(0xFFFFFFFF, 1ULL << 63), -0.5 / 4.020779360604940);
}

}  // namespace
}  // namespace leeway::problem
