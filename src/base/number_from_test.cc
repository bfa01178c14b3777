#include "base/number_from.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace leeway {
namespace {

TEST(NumberFromTest, TheWholeTextMustBeTheNumber) {
  EXPECT_EQ(NumberFrom<std::uint32_t>("42"), 42U);
  EXPECT_EQ(NumberFrom<double>("-2.5e1"), -25.0);
  for (const char* text : {"", " 42", "42 ", "+42", "4x", "-1", "4294967296"})
    EXPECT_FALSE(NumberFrom<std::uint32_t>(text)) << text;
}

}  // namespace
}  // namespace leeway
