#include "problem/compute_shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace leeway::problem {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

constexpr double kNear = 1e-12;

TEST(ComputeSharesTest, BothPassesFollowTheMultiplyAdds) {
  const std::vector<Table> tables = {{"a", {4}, 100}, {"b", {1000}, 0}, {"c", {2, 2}, 300}};
  const ComputeShares shares = ComputeSharesOf(tables);
  EXPECT_THAT(shares.forward,
              ElementsAre(DoubleNear(1.0 / 12, kNear), DoubleNear(0, kNear), DoubleNear(0.25, kNear)));
  EXPECT_THAT(shares.backward,
              ElementsAre(DoubleNear(1.0 / 6, kNear), DoubleNear(0, kNear), DoubleNear(0.5, kNear)));
}

TEST(ComputeSharesTest, TablesWithoutMultiplyAddsAreDividedByElements) {
  const std::vector<Table> tables = {{"a", {3, 2}}, {"b", {2}}};
  const ComputeShares shares = ComputeSharesOf(tables, 0.5);
  EXPECT_THAT(shares.forward, ElementsAre(DoubleNear(0.375, kNear), DoubleNear(0.125, kNear)));
  EXPECT_THAT(shares.backward, ElementsAre(DoubleNear(0.375, kNear), DoubleNear(0.125, kNear)));
}

}  // namespace
}  // namespace leeway::problem
