#include "node/server/scheduler_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/testing/fake_env.h"
#include "node/testing/handshake.h"

namespace leeway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using wire::Kind;

class SchedulerLinkTest : public ::testing::Test, private SchedulerEvents {
 protected:
  SchedulerLinkTest() { options.server = 4; }
  void Greet(const std::string& scheduler_host = "") {
    scheduler = world.transport.CompleteConnect();
    hello = ParseAs<wire::pb::Hello>(world.transport.TakeSent(scheduler, Kind::kHello).at(0));
    wire::pb::Welcome welcome;
    welcome.set_version(wire::kVersionMax);
    welcome.set_id(9);
    welcome.mutable_job()->set_seed(3);
    welcome.set_host_key(scheduler_host);
    ASSERT_TRUE(Welcome(world.transport, scheduler, welcome).ok());
  }
  std::vector<double> Reports() {
    std::vector<double> numbers;
    for (const SentFrame& frame : world.transport.TakeSent(scheduler, Kind::kReport)) {
      numbers.push_back(ParseAs<wire::pb::Report>(frame).values().at("n"));
    }
    return numbers;
  }

  FakeEnv world;
  ServerOptions options;
  ConnectionId scheduler;
  wire::pb::Hello hello;
  std::vector<std::string> events;
  Status map_taken;
  SchedulerLink link{options, world.env, [] { return Result<std::string>(std::string("sched:1")); }, *this};

 private:
  void OnRoster(const wire::pb::Roster& roster) override {
    events.push_back(fmt::format("roster {}", roster.epoch()));
  }
  Status OnTableMap(const wire::pb::TableMap& map) override {
    events.push_back(fmt::format("map {}", map.epoch()));
    return map_taken;
  }
  void OnCut(const wire::pb::Cut& cut) override { events.push_back(fmt::format("cut {}", cut.checkpoint())); }
  wire::pb::Report MakeReport() override {
    wire::pb::Report report;
    (*report.mutable_values())["n"] = ++reports_;
    return report;
  }
  void OnEnd(const Status& why) override { events.push_back("end " + std::string(why.message())); }

  double reports_ = 0;
};

TEST_F(SchedulerLinkTest, RegistersTheShardAndTakesItsPlace) {
  link.Start("here:7");
  Greet();
  EXPECT_EQ(hello.role(), wire::pb::ROLE_SERVER);
  EXPECT_EQ(hello.listen(), "here:7");
  EXPECT_EQ(hello.server(), 4U);
  EXPECT_EQ(hello.incarnation(), 0U) << "it owns nothing yet";
  EXPECT_EQ(link.place().shard, ShardId(9));
  EXPECT_EQ(link.place().server, ServerId(4));
  EXPECT_EQ(link.place().seed, 3U);
}

TEST_F(SchedulerLinkTest, ComesBackAsTheSameLifeThatMayOwnBlocks) {
  link.Start("here:7");
  Greet();
  const std::uint64_t life = hello.life();
  (void)world.transport.Lose(scheduler);
  EXPECT_THAT(world.log.lines, ElementsAre(HasSubstr("scheduler lost, reconnecting")));
  world.Advance(std::chrono::seconds(1));
  Greet();
  EXPECT_EQ(hello.life(), life);
  EXPECT_EQ(hello.incarnation(), 1U);
}

TEST_F(SchedulerLinkTest, ReportsWithEveryBeatWhileItIsUp) {
  link.Start("here:7");
  Greet();
  EXPECT_THAT(Reports(), ElementsAre(1));
  world.Advance(options.link.beat);
  EXPECT_THAT(Reports(), ElementsAre(2));
  link.Stop(Status::Ok());
  world.Advance(2 * options.link.beat);
  EXPECT_THAT(Reports(), IsEmpty());
}

TEST_F(SchedulerLinkTest, HandsOnWhatTheSchedulerSays) {
  link.Start("here:7");
  Greet();
  wire::pb::Roster roster;
  roster.set_epoch(5);
  wire::pb::TableMap map;
  map.set_epoch(6);
  wire::pb::Cut cut;
  cut.set_checkpoint(7);
  ASSERT_TRUE(world.transport.DeliverControl(scheduler, Kind::kRoster, roster).ok());
  ASSERT_TRUE(world.transport.DeliverControl(scheduler, Kind::kTableMap, map).ok());
  ASSERT_TRUE(world.transport.DeliverControl(scheduler, Kind::kCut, cut).ok());
  EXPECT_THAT(events, ElementsAre("roster 5", "map 6", "cut 7"));
}

TEST_F(SchedulerLinkTest, ReportsOnceMoreBeforeTheJobEnds) {
  link.Start("here:7");
  Greet();
  (void)Reports();
  wire::pb::JobEnd end;
  end.set_code(static_cast<std::uint32_t>(StatusCode::kUnavailable));
  end.set_message("a worker died");
  ASSERT_TRUE(world.transport.DeliverControl(scheduler, Kind::kJobEnd, end).ok());
  EXPECT_THAT(Reports(), ElementsAre(2));
  EXPECT_THAT(events, ElementsAre("end a worker died"));
}

TEST_F(SchedulerLinkTest, EndsWhenItCannotFollowTheScheduler) {
  link.Start("here:7");
  Greet();
  map_taken = Internal("unknown model");
  ASSERT_TRUE(world.transport.DeliverControl(scheduler, Kind::kTableMap, wire::pb::TableMap()).ok());
  ASSERT_TRUE(world.transport.DeliverControl(scheduler, Kind::kReport, wire::pb::Report()).ok());
  EXPECT_THAT(events, ElementsAre("map 0", "end unknown model",
                                  HasSubstr("from the scheduler, wanted Roster, TableMap, Cut or JobEnd")));
}

TEST_F(SchedulerLinkTest, AnAddressOfThisMachineIsOfNoUseToASchedulerOnAnother) {
  world.transport.host = "this machine";
  link.Start("127.0.0.1:7");
  Greet("another machine");
  EXPECT_THAT(events, ElementsAre(HasSubstr("listens at 127.0.0.1:7, which only this machine can reach")));
  EXPECT_THAT(Reports(), IsEmpty());
}

TEST_F(SchedulerLinkTest, AnAddressOfThisMachineServesASchedulerOnIt) {
  world.transport.host = "this machine";
  link.Start("127.0.0.1:7");
  Greet("this machine");
  EXPECT_THAT(events, IsEmpty());
}

}  // namespace
}  // namespace leeway::testing
