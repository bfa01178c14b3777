#include "base/hash.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace leeway {
namespace {

// Published values of SplitMix64 for the seeds 0 and 1234567: a change would change every coin and every
// trace.
TEST(HashTest, Mix64GivesThePublishedValues) {
  EXPECT_EQ(Mix64(0), 0xE220A8397B1DCDAFULL);
  EXPECT_EQ(Mix64(1234567), 6457827717110365317ULL);
}

TEST(HashTest, OrderAndNumberOfWordsMatter) {
  EXPECT_NE(Hash64({1, 2}), Hash64({2, 1}));
  EXPECT_NE(Hash64({1}), Hash64({1, 0}));
}

TEST(HashTest, TheUnitIntervalLeavesOutZeroAndHoldsOne) {
  EXPECT_GT(UnitInterval(0), 0.0);
  EXPECT_EQ(UnitInterval(std::numeric_limits<std::uint64_t>::max()), 1.0);
  double sum = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) sum += UnitInterval(Mix64(i));
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
}

}  // namespace
}  // namespace leeway
