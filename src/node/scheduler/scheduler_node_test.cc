// Gathering, tables, reports and options of a scheduler.
#include "node/scheduler/scheduler_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/scheduler/testing/hand_fed_scheduler.h"

namespace leeway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using testing::ParseAs;
using wire::Kind;

using SchedulerNodeTest = testing::HandFedScheduler;

TEST_F(SchedulerNodeTest, GathersThenSendsTheRosterToEveryone) {
  StartNode();
  w0 = HelloWorker(0, 100);
  EXPECT_EQ(welcome.id(), 0U);
  EXPECT_EQ(welcome.incarnation(), 1U);
  EXPECT_EQ(welcome.job().workers(), 2U);
  EXPECT_EQ(welcome.job().block_bytes(), 16U);
  s1 = HelloShard(1, 201);
  EXPECT_EQ(welcome.id(), 1U);
  w1 = HelloWorker(-1, 101);
  EXPECT_EQ(welcome.id(), 1U);
  EXPECT_EQ(State()["phase"], "gathering");
  EXPECT_TRUE(world.transport.sent.empty());
  s0 = HelloShard(0, 200);
  for (const ConnectionId id : {w0, w1, s0, s1}) {
    const auto rosters = Take<wire::pb::Roster>(id, Kind::kRoster);
    ASSERT_EQ(rosters.size(), 1U);
    EXPECT_EQ(rosters[0].epoch(), 1U);
    EXPECT_TRUE(rosters[0].gathered());
    EXPECT_EQ(rosters[0].members_size(), 2);
    EXPECT_EQ(rosters[0].shards(1).address(), "127.0.0.1:701");
  }
  EXPECT_EQ(State()["phase"], "running");
}

TEST_F(SchedulerNodeTest, ARepeatedHelloOfOneLifeIsTheSameWorkerAndGetsTheRosterAgain) {
  GatherAll();
  const ConnectionId again = HelloWorker(-1, 101);
  EXPECT_EQ(welcome.id(), 1U);
  EXPECT_EQ(welcome.incarnation(), 1U);
  EXPECT_FALSE(world.transport.IsOpen(w1)) << "the older connection is closed";
  EXPECT_EQ(Take<wire::pb::Roster>(again, Kind::kRoster).size(), 1U);
  PassTime(seconds(1));
  EXPECT_EQ(State()["epoch"], 1);
}

TEST_F(SchedulerNodeTest, RefusesAnotherJobAnotherVersionATakenRankAndALateWorker) {
  StartNode();
  wire::pb::Hello hello = BaseHello(wire::pb::ROLE_WORKER, 1);
  hello.set_job("other");
  SayHello(hello);
  EXPECT_THAT(welcome.error(), HasSubstr("got job \"other\", wanted \"j\""));
  hello = BaseHello(wire::pb::ROLE_WORKER, 1);
  hello.set_version_min(4);
  hello.set_version_max(4);
  SayHello(hello);
  EXPECT_THAT(welcome.error(), HasSubstr("you speak 4-4, this node speaks 5-5"));
  w0 = HelloWorker(0, 100);
  HelloWorker(0, 555);
  EXPECT_THAT(welcome.error(), HasSubstr("rank 0 is taken by another live worker (box, process 42)"));
  EXPECT_EQ(welcome.error_code(), static_cast<std::uint32_t>(StatusCode::kAlreadyExists));
  w1 = HelloWorker(1, 101);
  HelloWorker(-1, 556);
  EXPECT_THAT(welcome.error(), HasSubstr("the job has its 2 workers already"));
  EXPECT_TRUE(world.transport.IsOpen(w0) && world.transport.IsOpen(w1)) << "nobody else is harmed";
}

TEST_F(SchedulerNodeTest, EndsNamingWhoIsMissingWhenTheJobDoesNotGather) {
  StartNode();
  w1 = HelloWorker(1, 101);
  s0 = HelloShard(0, 200);
  PassTime(seconds(60));
  const auto told = Take<wire::pb::JobEnd>(w1, Kind::kJobEnd);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].message(), "the job did not gather within 60.0 s: missing worker 0, shard 0 of server 1");
  EXPECT_TRUE(ended.empty()) << "it waits a moment for them to go";
  SayGoodbye(w1);
  SayGoodbye(s0);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(State()["phase"], "ended");
}

TEST_F(SchedulerNodeTest, AWorkerThatGoesWhileGatheringGivesItsRankFree) {
  StartNode();
  w0 = HelloWorker(0, 100);
  SayGoodbye(w0, StatusCode::kInternal);
  HelloWorker(0, 110);
  EXPECT_TRUE(welcome.error().empty());
  EXPECT_EQ(welcome.incarnation(), 2U);
}

TEST_F(SchedulerNodeTest, AMapIsAnsweredOnlyOnceEveryShardHasIt) {
  GatherAll();
  Define(w0, 7, "w", 6);
  EXPECT_TRUE(Take<wire::pb::TableMap>(w0, Kind::kTableMap).empty());
  for (const ConnectionId shard : {s0, s1}) {
    const auto maps = Take<wire::pb::TableMap>(shard, Kind::kTableMap);
    ASSERT_EQ(maps.size(), 1U);
    EXPECT_EQ(maps[0].request(), 0U);
    EXPECT_EQ(maps[0].epoch(), 2U);
    ASSERT_EQ(maps[0].tables(0).blocks_size(), 2);
    EXPECT_EQ(maps[0].tables(0).sync(), "bsp");
  }
  Define(w1, 3, "w", 6);
  Ack(s0, 2);
  EXPECT_TRUE(Take<wire::pb::TableMap>(w0, Kind::kTableMap).empty()) << "shard 1 has not";
  Ack(s1, 2);
  const auto first = Take<wire::pb::TableMap>(w0, Kind::kTableMap);
  const auto second = Take<wire::pb::TableMap>(w1, Kind::kTableMap);
  ASSERT_TRUE(first.size() == 1 && second.size() == 1);
  EXPECT_EQ(first[0].request(), 7U);
  EXPECT_EQ(second[0].request(), 3U);
  EXPECT_EQ(first[0].tables(0).SerializeAsString(), second[0].tables(0).SerializeAsString());
  EXPECT_EQ(first[0].tables(0).blocks(1).shard(), 1U);
}

TEST_F(SchedulerNodeTest, ADifferentDefinitionIsAnsweredWithWhatDiffersAndNothingChanges) {
  GatherAll();
  Define(w0, 1, "w", 6);
  AckAll(2);
  world.transport.sent.clear();
  Define(w1, 2, "w", 7);
  const auto refused = Take<wire::pb::TableMap>(w1, Kind::kTableMap);
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_THAT(refused[0].error(), HasSubstr("shape: got [7], wanted [6]"));
  EXPECT_EQ(refused[0].error_code(), static_cast<std::uint32_t>(StatusCode::kAlreadyExists));
  EXPECT_TRUE(world.transport.sent.empty());
  EXPECT_EQ(State()["epoch"], 2);
}

TEST_F(SchedulerNodeTest, AShardThatLosesItsConnectionAtTheEndIsToldWhenItComesBack) {
  GatherAll();
  Leave(w0);
  Leave(w1);
  SayGoodbye(w0);
  (void)world.transport.Lose(s0);
  SayGoodbye(w1);
  (void)world.transport.Lose(s1);
  world.Advance(seconds(3));
  EXPECT_TRUE(ended.empty()) << "two shards do not know how the job ended";
  s0 = HelloShard(0, 200);
  const auto told = Take<wire::pb::JobEnd>(s0, Kind::kJobEnd);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].code(), 0U);
  SayGoodbye(s0);
  EXPECT_TRUE(ended.empty());
  world.Advance(seconds(20));
  ASSERT_EQ(ended.size(), 1U) << "a shard that never comes back is not waited for without end";
  EXPECT_TRUE(ended[0].ok());
}

TEST_F(SchedulerNodeTest, AMonitorGetsTheStatusAndCountsForNothing) {
  StartNode();
  const ConnectionId monitor = SayHello(BaseHello(wire::pb::ROLE_MONITOR, 9));
  EXPECT_TRUE(welcome.error().empty());
  wire::pb::StatusRequest request;
  request.set_request(5);
  ASSERT_TRUE(world.transport.DeliverControl(monitor, Kind::kStatusRequest, request).ok());
  const auto reply = Take<wire::pb::StatusReply>(monitor, Kind::kStatusReply).at(0);
  EXPECT_EQ(reply.request(), 5U);
  const auto state = nlohmann::json::parse(reply.json());
  EXPECT_EQ(state["phase"], "gathering");
  EXPECT_TRUE(state["workers"].empty());
  (void)world.transport.DeliverControl(monitor, Kind::kLeave, wire::pb::Leave());
  EXPECT_FALSE(world.transport.IsOpen(monitor)) << "a monitor only asks";
}

TEST_F(SchedulerNodeTest, ReportsAddUpInTheStatus) {
  GatherAll();
  Define(w0, 1, "w", 6);
  wire::pb::Report report;
  report.set_iteration(12);
  report.set_waiting_for("block 3");
  (*report.mutable_values())["pushes"] = 5;
  report.mutable_moment()->set_waits_on("values");
  report.mutable_moment()->set_name("w");
  report.mutable_moment()->set_shard(0);
  report.mutable_moment()->set_waiting_s(1.5);
  report.mutable_moment()->set_training_s(20);
  report.mutable_moment()->set_since_step_s(5);
  ASSERT_TRUE(world.transport.DeliverControl(w0, Kind::kReport, report).ok());
  (*report.mutable_values())["pushes"] = 6;
  ASSERT_TRUE(world.transport.DeliverControl(w1, Kind::kReport, report).ok());
  wire::pb::Report shard;
  (*shard.mutable_values())["applied"] = 7;
  ASSERT_TRUE(world.transport.DeliverControl(s0, Kind::kReport, shard).ok());
  const auto state = State();
  EXPECT_EQ(state["workers"][0]["iteration"], 12);
  EXPECT_EQ(state["workers"][0]["waiting_for"], "block 3");
  EXPECT_EQ(state["workers"][0]["now"]["waits_on"], "values");
  EXPECT_EQ(state["workers"][0]["now"]["name"], "w");
  EXPECT_EQ(state["workers"][0]["now"]["server"], 0);
  EXPECT_EQ(state["workers"][0]["now"]["waiting_s"], 1.5);
  EXPECT_EQ(state["workers"][0]["report_age_s"], 0);
  EXPECT_EQ(state["training_s"], 15);
  EXPECT_EQ(state["workers"][1]["figures"]["pushes"], 6);
  EXPECT_EQ(state["totals"]["worker.pushes"], 11);
  EXPECT_EQ(state["totals"]["server.applied"], 7);
  EXPECT_EQ(state["tables"][0]["name"], "w");
  EXPECT_EQ(state["tables"][0]["blocks"], 2);
  EXPECT_EQ(state["tables"][0]["clock"], "job");
}

TEST_F(SchedulerNodeTest, TheStatusSaysHowLongTheJobGathered) {
  StartNode();
  world.Advance(seconds(3));
  EXPECT_FALSE(State().contains("gathered_after_s"));
  EXPECT_EQ(State()["wanted"]["workers"], options.job.workers);
  EXPECT_EQ(State()["wanted"]["servers"], options.job.servers);
  w0 = HelloWorker(0, 100);
  w1 = HelloWorker(1, 101);
  s0 = HelloShard(0, 200);
  s1 = HelloShard(1, 201);
  AckAll(1);
  PassTime(seconds(2));
  EXPECT_EQ(State()["gathered_after_s"], 3);
}

TEST_F(SchedulerNodeTest, BadOptionsAreRefusedAtTheStart) {
  const auto start = [this] {
    SchedulerNode bad(options, world.env, SchedulerPolicies{sync, optimizers, placements, exchanges},
                      [](const Status&) {});
    return bad.Start();
  };
  EXPECT_TRUE(start().ok());
  options.job.workers = 0;
  EXPECT_THAT(start().message(), HasSubstr("workers of the job: got 0"));
  options.job.workers = 4'000'000'000U;
  EXPECT_THAT(start().message(), HasSubstr("workers of the job: got 4000000000"));
  options.job.workers = 1;
  options.job.shards = 60'000;
  EXPECT_THAT(start().message(), HasSubstr("shards in all"));
  options.job.shards = 1;
  options.job.sync = "bbsp";
  EXPECT_THAT(start().message(), HasSubstr("did you mean \"bsp\"?"));
  options.job.sync = "bsp";
  options.expel_after = milliseconds(10);
  EXPECT_THAT(start().message(), HasSubstr("expel_after 10 ms"));
  options.expel_after = seconds(10);
  world.transport.listen_error = Unavailable("port 80 is in use");
  EXPECT_THAT(start().message(), HasSubstr("port 80 is in use"));
}

TEST_F(SchedulerNodeTest, SaysWhoIsMissingToOneThatWaitsForTheJobToBegin) {
  StartNode();
  w0 = HelloWorker(0, 100);
  wire::pb::Why why;
  why.set_request(5);
  ASSERT_TRUE(world.transport.DeliverControl(w0, Kind::kWhy, why).ok());
  const auto replies = Take<wire::pb::WhyReply>(w0, Kind::kWhyReply);
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(replies[0].request(), 5U);
  EXPECT_THAT(replies[0].not_here(), ::testing::HasSubstr("worker 1, shard 0 of server 0"));
}

TEST_F(SchedulerNodeTest, SaysHowMembersAreAndWhoHasNotComeToABarrier) {
  GatherAll();
  wire::pb::Report report;
  report.set_iteration(7);
  report.set_waiting_for("a friend");
  ASSERT_TRUE(world.transport.DeliverControl(w1, Kind::kReport, report).ok());
  PassTime(std::chrono::seconds(2), w1);
  wire::pb::Barrier barrier;
  barrier.set_name("b");
  barrier.set_round(1);
  ASSERT_TRUE(world.transport.DeliverControl(w0, Kind::kBarrier, barrier).ok());
  wire::pb::Why why;
  why.set_at_barrier(true);
  why.set_barrier("b");
  why.add_ranks(99);
  ASSERT_TRUE(world.transport.DeliverControl(w0, Kind::kWhy, why).ok());
  const auto replies = Take<wire::pb::WhyReply>(w0, Kind::kWhyReply);
  ASSERT_EQ(replies.size(), 1U);
  ASSERT_EQ(replies[0].missing_size(), 1);
  EXPECT_EQ(replies[0].missing(0), 1U);
  ASSERT_EQ(replies[0].standings_size(), 1) << "one that there is not is left out";
  const wire::pb::Standing& who = replies[0].standings(0);
  EXPECT_EQ(who.rank(), 1U);
  EXPECT_EQ(who.iteration(), 7);
  EXPECT_EQ(who.waiting_for(), "a friend");
  EXPECT_EQ(who.pid(), 42U);
  EXPECT_NEAR(who.silent_s(), 2, 0.1);
}

}  // namespace
}  // namespace leeway
