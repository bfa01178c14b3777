#include "node/scheduler/block_bytes.h"

#include <gtest/gtest.h>

namespace leeway {
namespace {

constexpr std::uint64_t kKib = 1024, kMib = 1024 * kKib;

TEST(BlockBytesTest, AreAnEighthOfAnEvenShare) {
  EXPECT_EQ(BlockBytesByNeed(16 * kMib, 2), kMib);
  EXPECT_EQ(BlockBytesByNeed(16 * kMib, 8), 256 * kKib);
}

TEST(BlockBytesTest, AreBounded) {
  EXPECT_EQ(BlockBytesByNeed(0, 1), 64 * kKib);
  EXPECT_EQ(BlockBytesByNeed(800 * kKib, 2), 64 * kKib);
  EXPECT_EQ(BlockBytesByNeed(64 * kMib, 2), 4 * kMib);
  EXPECT_EQ(BlockBytesByNeed(1 << 30, 2), 4 * kMib);
}

TEST(BlockBytesTest, HoldWholeValues) {
  EXPECT_EQ(BlockBytesByNeed(100'000'004, 3) % sizeof(float), 0U);
  EXPECT_EQ(BlockBytesByNeed(100'000'004, 3), 4'166'664U);
}

}  // namespace
}  // namespace leeway
