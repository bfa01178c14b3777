#include "launch/role_restarts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway::app {
namespace {

using std::chrono::milliseconds;

class RoleRestartsTest : public ::testing::Test {
 protected:
  std::optional<RoleRestarts::Next> Take(JobRole role, std::uint32_t index, int lived_ms = 10) {
    why_not.clear();
    return restarts.Take(role, index, milliseconds(lived_ms), why_not);
  }
  RoleRestarts restarts{{.servers = 20, .scheduler = 1, .quick_max = 4}};
  std::string why_not;
};

TEST_F(RoleRestartsTest, EachDeathInQuickSuccessionWaitsLongerUntilThereWereTooMany) {
  for (const int wait : {200, 400, 800}) {
    EXPECT_EQ(Take(JobRole::kServer, 1)->back_off, milliseconds(wait));
  }
  EXPECT_EQ(Take(JobRole::kServer, 0)->back_off, milliseconds(200)) << "another's";
  EXPECT_EQ(Take(JobRole::kServer, 1, 60'000)->back_off, milliseconds(200));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(Take(JobRole::kServer, 1));
  EXPECT_FALSE(Take(JobRole::kServer, 1));
  EXPECT_THAT(why_not, ::testing::HasSubstr("5 times in a row"));
}

TEST_F(RoleRestartsTest, ServersAndTheSchedulerHaveLimitsOfTheirOwn) {
  EXPECT_EQ(Take(JobRole::kScheduler, 0)->why, "restart 1 of 1");
  EXPECT_FALSE(Take(JobRole::kScheduler, 0));
  EXPECT_THAT(why_not, ::testing::HasSubstr("which is the limit"));
  for (std::uint32_t i = 1; i <= 20; ++i) {
    EXPECT_EQ(Take(JobRole::kServer, i)->why, fmt::format("restart {} of 20", i));
  }
  EXPECT_FALSE(Take(JobRole::kServer, 0));
  RoleRestarts none({.servers = 0});
  why_not.clear();
  EXPECT_FALSE(none.Take(JobRole::kServer, 0, milliseconds(10), why_not));
  EXPECT_EQ(why_not, "") << "nobody asked for any";
}

}  // namespace
}  // namespace leeway::app
