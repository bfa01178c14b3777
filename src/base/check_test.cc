#include "base/check.h"

#include <gtest/gtest.h>

namespace leeway {
namespace {

TEST(CheckDeathTest, AFailedCheckPrintsTheConditionAndTheValues) {
  const int places = 3;
  EXPECT_DEATH(LW_CHECK(places == 2, "got {} places", places), "check_test.cc.*places == 2: got 3 places");
  EXPECT_DEATH(LW_CHECK(places == 2), "check failed: places == 2");
}

TEST(CheckTest, ATrueCheckDoesNotEvenFormat) {
  int formatted = 0;
  LW_CHECK(true, "{}", ++formatted);
  EXPECT_EQ(formatted, 0);
}

}  // namespace
}  // namespace leeway
