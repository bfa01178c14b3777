#include "scenario/disturbance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace leeway::scenario {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(DisturbanceTest, ReadsItsWordsInAnyOrder) {
  const Result<Disturbance> step = ParseDisturbance("slower=10 link=server.1  at=20");
  ASSERT_TRUE(step.ok()) << step.status().ToString();
  EXPECT_EQ(step->what, Disturbance::What::kLink);
  EXPECT_EQ(step->whom, Disturbance::Whom::kOne);
  EXPECT_EQ(step->one, (Member{.is_server = true, .index = 1}));
  EXPECT_FALSE(step->is_random);
  EXPECT_EQ(step->seconds, 20);
  EXPECT_EQ(step->for_s, std::nullopt);
  EXPECT_EQ(step->slower, 10);
  const Result<Disturbance> cut = ParseDisturbance("every=60 for=0.5 cut=workers");
  ASSERT_TRUE(cut.ok()) << cut.status().ToString();
  EXPECT_TRUE(cut->is_random);
  EXPECT_EQ(cut->for_s, 0.5);
}

TEST(DisturbanceTest, AWrongTextIsRefusedAndNamed) {
  const auto refused = [](const char* text, const char* wanted) {
    const Result<Disturbance> read = ParseDisturbance(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_THAT(read.status().message(), HasSubstr(text));
    EXPECT_THAT(read.status().message(), HasSubstr(wanted));
  };
  refused("", "one of at= and every=");
  refused("link=all slower=2", "one of at= and every=");
  refused("at=1 every=2 link=all slower=2", "one of at= and every=");
  refused("at=1 at=2 link=all slower=2", "one of at= and every=");
  refused("at=1 for=1 for=2 link=all slower=2", "each word once");
  refused("at=1", "one of link=, work=, cut= and kill=");
  refused("at=1 cut=all kill=all", "one of link=, work=, cut= and kill=");
  refused("at=1 link=all", "slower= with link=");
  refused("at=1 cut=all slower=2", "slower= with link=");
  refused("at=-1 cut=all", "seconds from 0");
  refused("at=nan cut=all", "seconds from 0");
  refused("every=0 cut=all", "seconds from 0.001");
  refused("at=1 for=0 cut=all", "seconds from 0.001");
  refused("at=1 link=all slower=0", "a number from 0.001");
  refused("at=1 link=everybody slower=2", "worker.N");
  refused("at=1 link=worker.x slower=2", "worker.N");
  refused("at=1 link=scheduler.0 slower=2", "worker.N");
  refused("at=1 lnk=all slower=2", "link=");
  refused("at=1 link slower=2", "worker.N");
}

TEST(DisturbanceTest, EachKeyTakesItsOwnKindAndMembersThatExist) {
  Scenario scenario;
  scenario.job.workers = 2;
  scenario.said_at["changes.plan"] = "x.toml line 3";
  const auto message = [&](std::vector<std::string> changes, std::vector<std::string> faults) {
    scenario.changes = std::move(changes);
    scenario.faults.plan = std::move(faults);
    const auto all = DisturbancesOf(scenario);
    return all.ok() ? "" : all.status().message();
  };
  EXPECT_EQ(message({"at=1 link=worker.1 slower=2"}, {"at=1 cut=server.0"}), "");
  EXPECT_THAT(message({"at=1 cut=all"}, {}), HasSubstr("x.toml line 3: changes.plan: got \"at=1 cut=all\""));
  EXPECT_THAT(message({}, {"at=1 work=all slower=2"}), HasSubstr("faults.plan: got"));
  EXPECT_THAT(message({"at=1 link=worker.2 slower=2"}, {}), HasSubstr("wanted a worker below 2"));
  EXPECT_THAT(message({}, {"at=1 kill=server.1"}), HasSubstr("wanted a server below 1"));
}

TEST(DisturbanceTest, EveryCardIsThereOnce) {
  Scenario scenario;
  scenario.job.workers = 3;
  scenario.job.servers = 2;
  const auto members = [&](const char* text) { return MembersOf(*ParseDisturbance(text), scenario); };
  EXPECT_EQ(members("at=1 link=all slower=2").size(), 5U);
  scenario.together = true;
  EXPECT_THAT(members("at=1 link=all slower=2"),
              ElementsAre(Member{true, 0}, Member{true, 1}, Member{false, 2}));
  EXPECT_EQ(members("at=1 work=all slower=2").size(), 5U);
  EXPECT_EQ(members("at=1 kill=all").size(), 5U);
  EXPECT_EQ(members("at=1 cut=workers").size(), 3U);
  EXPECT_THAT(members("at=1 cut=worker.1"), ElementsAre(Member{false, 1}));
}

}  // namespace
}  // namespace leeway::scenario
