#include "cli/simulator_variables.h"

#include <gtest/gtest.h>

namespace leeway::app {
namespace {

TEST(SimulatorVariablesTest, OnlyCommandsThatSimulateWantThem) {
  const Environment empty;
  EXPECT_TRUE(SimulatorVariables({"sim", "scenarios/uneven.toml"}, empty, true));
  EXPECT_TRUE(SimulatorVariables({"bench", "sim", "--json"}, empty, true));
  EXPECT_FALSE(SimulatorVariables({}, empty, true));
  EXPECT_FALSE(SimulatorVariables({"bench"}, empty, true));
  EXPECT_FALSE(SimulatorVariables({"bench", "pushpull"}, empty, true));
  EXPECT_FALSE(SimulatorVariables({"run", "--", "sim"}, empty, true));
}

TEST(SimulatorVariablesTest, OfAProcessorWithoutTheCommonKernelsItsOwnAreTaken) {
  const std::optional<Environment> with = SimulatorVariables({"sim"}, Environment(), true);
  ASSERT_TRUE(with);
  EXPECT_EQ(with->Get("GLIBC_TUNABLES"), "glibc.malloc.hugetlb=1");
  EXPECT_EQ(with->Get("OPENBLAS_CORETYPE"), "Haswell");
  const std::optional<Environment> without = SimulatorVariables({"sim"}, Environment(), false);
  ASSERT_TRUE(without);
  EXPECT_EQ(without->Get("OPENBLAS_CORETYPE"), std::nullopt);
}

TEST(SimulatorVariablesTest, WhoeverHasSetOneIsLeftAlone) {
  Environment environment;
  environment.Set("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0");
  const std::optional<Environment> rest = SimulatorVariables({"sim"}, environment, true);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->Get("GLIBC_TUNABLES"), "glibc.malloc.tcache_count=0");
  environment.Set("OPENBLAS_CORETYPE", "Zen");
  EXPECT_FALSE(SimulatorVariables({"sim"}, environment, true));
}

TEST(SimulatorVariablesTest, TheProgramThatWasStartedAnewIsNotStartedOnceMore) {
  for (const bool has_common_kernels : {false, true}) {
    const std::optional<Environment> anew = SimulatorVariables({"sim"}, Environment(), has_common_kernels);
    ASSERT_TRUE(anew);
    EXPECT_FALSE(SimulatorVariables({"sim"}, *anew, has_common_kernels));
  }
}

}  // namespace
}  // namespace leeway::app
