#include "terminal/wrap_text.h"

#include <gtest/gtest.h>

namespace leeway::app {
namespace {

TEST(WrapTextTest, WordsGoOnTheNextLineUnderTheIndent) {
  EXPECT_EQ(Wrapped("one two three", 0, 2, 8), "one two\n  three");
  EXPECT_EQ(Wrapped("one two", 4, 4, 8), "one\n    two");
  EXPECT_EQ(Wrapped("a-very-long-word b", 0, 2, 8), "a-very-long-word\n  b");
}

TEST(WrapTextTest, ANumberStaysWithItsUnit) {
  EXPECT_EQ(Wrapped("lead 16+: 0 %", 0, 2, 11), "lead 16+:\n  0 %");
  EXPECT_EQ(Wrapped("9 DPRs, 10 iterations", 0, 2, 11), "9 DPRs,\n  10 iterations");
  EXPECT_EQ(Wrapped("took 1.5", 0, 2, 8), "took 1.5");
}

}  // namespace
}  // namespace leeway::app
