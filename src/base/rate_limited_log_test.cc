#include "base/rate_limited_log.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace leeway {
namespace {

using std::chrono::seconds;

struct FakeClock final : Clock {
  [[nodiscard]] TimePoint Now() const override { return now; }
  TimePoint now;
};

struct FakeLog final : Log {
  void Write(LogLevel, std::string_view line) override { lines.emplace_back(line); }
  std::vector<std::string> lines;
};

struct World {
  FakeClock clock;
  FakeLog log;
  void Advance(Duration by) { clock.now += by; }
};

TEST(RateLimitedLogTest, AFewAreNamedEachAndManyAreCounted) {
  World world;
  {
    RateLimitedLog strangers(world.clock, world.log);
    for (int i = 0; i < 1000; ++i) strangers.Warn(fmt::format("stranger {}", i));
    EXPECT_EQ(world.log.lines.size(), RateLimitedLog::kAtOnce);
    EXPECT_EQ(world.log.lines[0], "stranger 0");
    world.Advance(seconds(10));
    strangers.Warn("one later");
    ASSERT_EQ(world.log.lines.size(), RateLimitedLog::kAtOnce + 2);
    EXPECT_EQ(world.log.lines[RateLimitedLog::kAtOnce], "and 980 more such warnings, the last: stranger 999");
    EXPECT_EQ(world.log.lines.back(), "one later");
    strangers.Warn("one at its end");
  }
  EXPECT_THAT(world.log.lines.back(),
              ::testing::HasSubstr("and 1 more such warnings, the last: one at its end"));
}

TEST(RateLimitedLogTest, OneThatTriesAgainIsNamedOnceInAPeriod) {
  World world;
  RateLimitedLog refusals(world.clock, world.log);
  for (int i = 0; i < 7; ++i) {
    refusals.WarnOnce("one");
    refusals.WarnOnce("another");
  }
  EXPECT_THAT(world.log.lines, ::testing::ElementsAre("one", "another"));
  world.Advance(RateLimitedLog::kEvery);
  refusals.WarnOnce("one");
  EXPECT_EQ(world.log.lines.size(), 3U) << "nothing was kept back, and it is named anew";
}

TEST(RateLimitedLogTest, AnAttackThatGoesOnForAnHourFillsNoDisk) {
  World world;
  RateLimitedLog strangers(world.clock, world.log);
  for (int second = 0; second < 3600; ++second) {
    for (int i = 0; i < 50; ++i) strangers.Warn("noise");
    world.Advance(seconds(1));
  }
  EXPECT_LE(world.log.lines.size(), 3600U / 10 * 2 + RateLimitedLog::kAtOnce);
}

TEST(RateLimitedLogTest, WhoComesNowAndThenIsNamedEachTime) {
  World world;
  RateLimitedLog strangers(world.clock, world.log);
  for (int i = 0; i < 100; ++i) {
    strangers.Warn("now and then");
    world.Advance(seconds(2));
  }
  EXPECT_EQ(world.log.lines.size(), 100U);
}

}  // namespace
}  // namespace leeway
