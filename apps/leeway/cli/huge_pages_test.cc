#include "cli/huge_pages.h"

#include <gtest/gtest.h>

namespace leeway::app {
namespace {

TEST(HugePagesTest, OnlyCommandsThatSimulateWantThem) {
  const Environment empty;
  EXPECT_TRUE(WantsHugePages({"sim", "scenarios/uneven.toml"}, empty));
  EXPECT_TRUE(WantsHugePages({"papers"}, empty));
  EXPECT_TRUE(WantsHugePages({"bench", "sim", "--json"}, empty));
  EXPECT_FALSE(WantsHugePages({}, empty));
  EXPECT_FALSE(WantsHugePages({"bench"}, empty));
  EXPECT_FALSE(WantsHugePages({"bench", "pushpull"}, empty));
  EXPECT_FALSE(WantsHugePages({"run", "--", "sim"}, empty));
}

TEST(HugePagesTest, WhoeverHasSetTheVariableIsLeftAlone) {
  Environment environment;
  environment.Set("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0");
  EXPECT_FALSE(WantsHugePages({"sim"}, environment)) << "and so is the program that was started anew";
}

}  // namespace
}  // namespace leeway::app
