#include "leeway/footprint.h"

#include <gtest/gtest.h>

#include <vector>

namespace leeway {
namespace {

constexpr std::size_t kLine = Footprint::kLineBytes;

std::uintptr_t LineOf(const void* at) { return reinterpret_cast<std::uintptr_t>(at) / kLine * kLine; }

TEST(FootprintTest, HasEveryLineThatAnObjectIsInAndEachOnce) {
  struct alignas(64) Three {
    char bytes[3 * kLine];
  };
  const Three three{};
  Footprint footprint;
  footprint.AddObject(three);
  footprint.AddLineOf(&three.bytes[2 * kLine + 5]);  // the last one again
  const std::uintptr_t first = LineOf(&three);
  EXPECT_EQ(std::vector(footprint.lines().begin(), footprint.lines().end()),
            (std::vector{first, first + kLine, first + 2 * kLine}));
}

TEST(FootprintTest, BytesThatCrossALineAreInTwo) {
  alignas(64) const char bytes[2 * kLine] = {};
  Footprint footprint;
  footprint.AddBytes(bytes + kLine - 1, 2);
  EXPECT_EQ(footprint.lines().size(), 2U);
  Footprint up_to;
  up_to.AddUpTo(bytes, bytes + kLine);
  EXPECT_EQ(up_to.lines().size(), 1U);
}

TEST(FootprintTest, NothingIsInNoLineAndWhatIsTooMuchIsLeftOut) {
  Footprint footprint;
  footprint.AddLineOf(nullptr);
  footprint.AddBytes(&footprint, 0);
  EXPECT_TRUE(footprint.lines().empty());
  const std::vector<char> many((Footprint::kLinesMax + 10) * kLine);
  footprint.AddBytes(many.data(), many.size());
  EXPECT_TRUE(footprint.full());
  EXPECT_EQ(footprint.lines().size(), Footprint::kLinesMax);
}

}  // namespace
}  // namespace leeway
