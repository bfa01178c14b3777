#include "base/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway {
namespace {

TEST(SplitTest, PartsAreWhatStandsBetweenMarks) {
  using ::testing::ElementsAre;
  EXPECT_THAT(SplitAt("a,bc,d", ','), ElementsAre("a", "bc", "d"));
  EXPECT_THAT(SplitAt("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(SplitAt("alone", ','), ElementsAre("alone"));
  EXPECT_THAT(SplitAt("", ','), ElementsAre(""));
}

}  // namespace
}  // namespace leeway
