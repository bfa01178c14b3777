#include "transport/local/nontemporal_copy.h"

#include <gtest/gtest.h>

#include <vector>

#include "transport/local/last_level_cache.h"

namespace leeway {
namespace {

TEST(NontemporalCopyTest, CopiesEveryLengthFromAndToEveryAlignmentAndNothingBeside) {
  constexpr std::size_t kRoom = 512;
  std::vector<std::byte> from(kRoom);
  for (std::size_t i = 0; i < kRoom; ++i) from[i] = static_cast<std::byte>(i * 7 + 1);
  for (std::size_t to_at = 0; to_at < 65; ++to_at) {
    for (const std::size_t from_at : {0U, 1U, 4U, 63U}) {
      for (const std::size_t bytes : {0U, 1U, 63U, 64U, 65U, 127U, 128U, 200U, 320U}) {
        std::vector<std::byte> to(kRoom, std::byte{0});
        CopyNontemporal(to.data() + to_at, from.data() + from_at, bytes);
        for (std::size_t i = 0; i < kRoom; ++i) {
          const bool inside = i >= to_at && i < to_at + bytes;
          ASSERT_EQ(to[i], inside ? from[from_at + i - to_at] : std::byte{0})
              << "byte " << i << " of " << bytes << " from " << from_at << " to " << to_at;
        }
      }
    }
  }
}

TEST(NontemporalCopyTest, HalfOfTheCacheIsOnesOwnButOfAHugeOneOnlySoMuch) {
  constexpr std::uint64_t kMiB = 1U << 20;
  EXPECT_EQ(NontemporalBytesMin(8 * kMiB), 4 * kMiB);
  EXPECT_EQ(NontemporalBytesMin(32 * kMiB), 16 * kMiB);
  EXPECT_EQ(NontemporalBytesMin(260 * kMiB), 16 * kMiB);
}

TEST(NontemporalCopyTest, TheMachineHasACacheOfSomeSize) {
  EXPECT_GE(NontemporalBytesMin(), 256U << 10);
  EXPECT_LE(LastLevelCacheBytes(), std::uint64_t{8} << 30);
}

}  // namespace
}  // namespace leeway
