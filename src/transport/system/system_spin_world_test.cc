#include "transport/system/system_spin_world.h"

#include <gtest/gtest.h>

namespace leeway {
namespace {

TEST(SystemSpinWorldTest, KnowsThisThread) {
  const SpinWorld& world = SystemSpinWorld();
  EXPECT_GE(world.Cores(), 1);
  EXPECT_GE(world.Preemptions(), 0);
  EXPECT_GT(world.NowNs(), 0);
}

}  // namespace
}  // namespace leeway
