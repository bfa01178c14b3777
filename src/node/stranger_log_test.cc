#include "node/stranger_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/testing/fake_env.h"

namespace leeway {
namespace {

using std::chrono::seconds;
using testing::FakeEnv;

TEST(StrangerLogTest, AFewAreNamedEachAndManyAreCounted) {
  FakeEnv world;
  {
    StrangerLog strangers(world.env.clock, world.env.log);
    for (int i = 0; i < 1000; ++i) strangers.Warn(fmt::format("stranger {}", i));
    EXPECT_EQ(world.log.lines.size(), StrangerLog::kAtOnce);
    EXPECT_EQ(world.log.lines[0], "stranger 0");
    world.Advance(seconds(10));
    strangers.Warn("one later");
    ASSERT_EQ(world.log.lines.size(), StrangerLog::kAtOnce + 2);
    EXPECT_EQ(world.log.lines[StrangerLog::kAtOnce], "and 980 more such warnings, the last: stranger 999");
    EXPECT_EQ(world.log.lines.back(), "one later");
    strangers.Warn("one at its end");
  }
  EXPECT_THAT(world.log.lines.back(),
              ::testing::HasSubstr("and 1 more such warnings, the last: one at its end"));
}

TEST(StrangerLogTest, AnAttackThatGoesOnForAnHourFillsNoDisk) {
  FakeEnv world;
  StrangerLog strangers(world.env.clock, world.env.log);
  for (int second = 0; second < 3600; ++second) {
    for (int i = 0; i < 50; ++i) strangers.Warn("noise");
    world.Advance(seconds(1));
  }
  EXPECT_LE(world.log.lines.size(), 3600U / 10 * 2 + StrangerLog::kAtOnce);
}

TEST(StrangerLogTest, WhoComesNowAndThenIsNamedEachTime) {
  FakeEnv world;
  StrangerLog strangers(world.env.clock, world.env.log);
  for (int i = 0; i < 100; ++i) {
    strangers.Warn("now and then");
    world.Advance(seconds(2));
  }
  EXPECT_EQ(world.log.lines.size(), 100U);
}

}  // namespace
}  // namespace leeway
