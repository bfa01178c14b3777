// One scheduler, fed by hand: the test is all workers and shards of the job.
#include "node/scheduler/scheduler_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "node/testing/fake_env.h"
#include "optimizer/optimizers.h"
#include "placement/placements.h"
#include "sync/sync_policy.h"

namespace leeway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::FakeEnv;
using ::testing::HasSubstr;
using testing::ParseAs;
using testing::SentFrame;
using wire::Kind;

class SchedulerNodeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options.job.job = "j";
    options.job.workers = 2;
    options.job.servers = 2;
    options.job.block_bytes = 16;
  }
  void StartNode() {
    node =
        std::make_unique<SchedulerNode>(options, world.env, SchedulerPolicies{sync, optimizers, placements},
                                        [this](const Status& why) { ended.push_back(why); });
    const Status started = node->Start();
    ASSERT_TRUE(started.ok()) << started.ToString();
  }
  static wire::pb::Hello BaseHello(wire::pb::Role role, std::uint64_t life) {
    wire::pb::Hello hello;
    hello.set_version_min(wire::kVersionMin);
    hello.set_version_max(wire::kVersionMax);
    hello.set_job("j");
    hello.set_role(role);
    hello.set_life(life);
    return hello;
  }
  // Says hello on a new connection; the welcome is in `welcome`, the frames after it stay to be taken.
  ConnectionId SayHello(const wire::pb::Hello& hello) {
    const ConnectionId id = world.transport.Accept();
    (void)world.transport.DeliverControl(id, Kind::kHello, hello);
    for (std::size_t i = 0; i < world.transport.sent.size(); ++i) {
      if (world.transport.sent[i].to != id) continue;
      EXPECT_EQ(world.transport.sent[i].kind, Kind::kWelcome) << "the welcome comes first";
      welcome = ParseAs<wire::pb::Welcome>(world.transport.sent[i]);
      world.transport.sent.erase(world.transport.sent.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
    return id;
  }
  ConnectionId HelloWorker(std::int64_t rank, std::uint64_t life) {
    wire::pb::Hello hello = BaseHello(wire::pb::ROLE_WORKER, life);
    hello.set_rank(rank);
    hello.set_host("box");
    hello.set_pid(42);
    return SayHello(hello);
  }
  ConnectionId HelloShard(std::uint32_t server, std::uint64_t life) {
    wire::pb::Hello hello = BaseHello(wire::pb::ROLE_SERVER, life);
    hello.set_server(server);
    hello.set_listen("127.0.0.1:70" + std::to_string(server));
    return SayHello(hello);
  }
  void GatherAll() {
    StartNode();
    w0 = HelloWorker(0, 100);
    w1 = HelloWorker(1, 101);
    s0 = HelloShard(0, 200);
    s1 = HelloShard(1, 201);
    ASSERT_EQ(Take<wire::pb::Roster>(w0, Kind::kRoster).size(), 1U);
    world.transport.sent.clear();
    AckAll(1);
  }
  void Ack(ConnectionId shard, std::uint64_t epoch) {
    wire::pb::EpochAck ack;
    ack.set_epoch(epoch);
    ASSERT_TRUE(world.transport.DeliverControl(shard, Kind::kEpochAck, ack).ok());
  }
  void AckAll(std::uint64_t epoch) {
    Ack(s0, epoch);
    Ack(s1, epoch);
  }
  template <typename Message>
  std::vector<Message> Take(ConnectionId id, Kind kind) {
    std::vector<Message> messages;
    for (const SentFrame& frame : world.transport.TakeSent(id, kind))
      messages.push_back(ParseAs<Message>(frame));
    return messages;
  }
  void Define(ConnectionId id, std::uint64_t request, const std::string& name, std::int64_t elements) {
    wire::pb::DefineTables define;
    define.set_request(request);
    wire::pb::Table& table = *define.add_tables();
    table.set_name(name);
    table.add_shape(elements);
    table.set_dtype(1);
    ASSERT_TRUE(world.transport.DeliverControl(id, Kind::kDefineTables, define).ok());
  }
  void SayGoodbye(ConnectionId id, StatusCode code = StatusCode::kOk) {
    wire::pb::Goodbye goodbye;
    goodbye.set_code(static_cast<std::uint32_t>(code));
    goodbye.set_message(code == StatusCode::kOk ? "" : "my own reason");
    (void)world.transport.DeliverControl(id, Kind::kGoodbye, goodbye);
  }
  void Leave(ConnectionId id) {
    ASSERT_TRUE(world.transport.DeliverControl(id, Kind::kLeave, wire::pb::Leave()).ok());
  }
  // All but `silent` are heard while time passes.
  void PassTime(Duration time, ConnectionId silent = {}) {
    for (Duration at{}; at < time; at += milliseconds(500)) {
      for (const ConnectionId id : {w0, w1, s0, s1}) {
        if (id != silent && world.transport.IsOpen(id)) (void)world.transport.Deliver(id, Kind::kPong, {});
      }
      world.Advance(milliseconds(500));
    }
  }
  nlohmann::json State() { return nlohmann::json::parse(node->StatusJson()); }

  FakeEnv world;
  SchedulerOptions options;
  Registry<SyncModel> sync = BuiltinSyncModels();
  Registry<Optimizer> optimizers = BuiltinOptimizers();
  Registry<Placement> placements = BuiltinPlacements();
  std::vector<Status> ended;
  wire::pb::Welcome welcome;
  ConnectionId w0, w1, s0, s1;
  std::unique_ptr<SchedulerNode> node;
};

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
  hello.set_version_max(6);
  SayHello(hello);
  EXPECT_THAT(welcome.error(), HasSubstr("you speak 4-6, this node speaks 1-1"));
  w0 = HelloWorker(0, 100);
  HelloWorker(0, 555);
  EXPECT_THAT(welcome.error(), HasSubstr("rank 0 is taken by another live worker (box, process 42)"));
  EXPECT_EQ(welcome.error_code(), static_cast<std::uint32_t>(StatusCode::kAlreadyExists));
  w1 = HelloWorker(1, 101);
  HelloWorker(-1, 556);
  EXPECT_THAT(welcome.error(), HasSubstr("the job has gathered its 2 workers already"));
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

TEST_F(SchedulerNodeTest, AShardThatComesBackGetsAllTablesThenTheRoster) {
  GatherAll();
  Define(w0, 1, "w", 6);
  (void)world.transport.Lose(s1);
  Ack(s0, 2);
  world.transport.sent.clear();
  s1 = HelloShard(1, 201);
  const auto sent = world.transport.TakeSent(s1);
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].kind, Kind::kTableMap);
  EXPECT_EQ(ParseAs<wire::pb::TableMap>(sent[0]).epoch(), 2U);
  EXPECT_EQ(sent[1].kind, Kind::kRoster);
  EXPECT_TRUE(Take<wire::pb::TableMap>(w0, Kind::kTableMap).empty());
  Ack(s1, 2);
  EXPECT_EQ(Take<wire::pb::TableMap>(w0, Kind::kTableMap).size(), 1U);
}

TEST_F(SchedulerNodeTest, ALeavingWorkerIsGoneInTheRosterAndLearnsItsEpoch) {
  GatherAll();
  Leave(w0);
  const auto sent = world.transport.TakeSent(w0);
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].kind, Kind::kRoster);
  EXPECT_EQ(ParseAs<wire::pb::Left>(sent[1]).epoch(), 2U);
  const auto rosters = Take<wire::pb::Roster>(s1, Kind::kRoster);
  ASSERT_EQ(rosters.size(), 1U);
  EXPECT_EQ(rosters[0].epoch(), 2U);
  EXPECT_TRUE(rosters[0].members(0).gone());
  EXPECT_FALSE(rosters[0].members(0).dead());
  EXPECT_FALSE(rosters[0].members(1).gone());

  Leave(w0);
  const auto again = Take<wire::pb::Left>(w0, Kind::kLeft);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].epoch(), 2U) << "asked again, the same";
  EXPECT_EQ(State()["workers"][0]["state"], "left");
}

TEST_F(SchedulerNodeTest, TheJobEndsWellWhenAllHaveLeftAndSaidGoodbye) {
  GatherAll();
  Leave(w0);
  Leave(w1);
  SayGoodbye(w0);
  EXPECT_TRUE(Take<wire::pb::JobEnd>(s0, Kind::kJobEnd).empty()) << "worker 1 may still pull";
  SayGoodbye(w1);
  for (const ConnectionId shard : {s0, s1}) {
    const auto told = Take<wire::pb::JobEnd>(shard, Kind::kJobEnd);
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].code(), 0U);
  }
  SayGoodbye(s0);
  EXPECT_TRUE(ended.empty());
  (void)world.transport.Lose(s1);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_TRUE(ended[0].ok());
  EXPECT_EQ(world.timers.pending(), 0U);
}

TEST_F(SchedulerNodeTest, ASilentWorkerIsSuspectedThenDeadThenFenced) {
  GatherAll();
  PassTime(seconds(4), w1);
  EXPECT_EQ(State()["workers"][1]["state"], "suspect");
  EXPECT_EQ(State()["workers"][0]["state"], "joined");
  PassTime(seconds(7), w1);
  EXPECT_EQ(State()["workers"][1]["state"], "dead");
  const auto rosters = Take<wire::pb::Roster>(w0, Kind::kRoster);
  ASSERT_EQ(rosters.size(), 1U);
  EXPECT_TRUE(rosters[0].members(1).gone());
  EXPECT_TRUE(rosters[0].members(1).dead());
  EXPECT_FALSE(world.transport.IsOpen(w1));
  HelloWorker(1, 101);
  EXPECT_EQ(welcome.error_code(), static_cast<std::uint32_t>(StatusCode::kFenced));
  EXPECT_TRUE(ended.empty());
}

TEST_F(SchedulerNodeTest, ALostConnectionAloneIsNoDeath) {
  GatherAll();
  (void)world.transport.Lose(w1);
  PassTime(seconds(5));
  EXPECT_TRUE(Take<wire::pb::Roster>(w0, Kind::kRoster).empty());
  w1 = HelloWorker(1, 101);
  EXPECT_TRUE(welcome.error().empty());
  PassTime(seconds(20));
  EXPECT_EQ(State()["workers"][1]["state"], "joined");
}

TEST_F(SchedulerNodeTest, AGoodbyeWithAReasonIsADeathAtOnceEvenIfTheReasonSoundsTemporary) {
  GatherAll();
  SayGoodbye(w1, StatusCode::kUnavailable);
  const auto rosters = Take<wire::pb::Roster>(s0, Kind::kRoster);
  ASSERT_EQ(rosters.size(), 1U);
  EXPECT_TRUE(rosters[0].members(1).dead());
}

TEST_F(SchedulerNodeTest, WhenAllDieTheJobEndsWithAnError) {
  GatherAll();
  SayGoodbye(w0, StatusCode::kInternal);
  EXPECT_TRUE(Take<wire::pb::JobEnd>(s0, Kind::kJobEnd).empty());
  SayGoodbye(w1, StatusCode::kInternal);
  const auto told = Take<wire::pb::JobEnd>(s0, Kind::kJobEnd);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].message(), "all 2 workers died");
}

TEST_F(SchedulerNodeTest, ALostShardEndsTheJobAndIsNamed) {
  GatherAll();
  (void)world.transport.Lose(s1);
  PassTime(seconds(9));
  EXPECT_EQ(State()["shards"][1]["state"], "down");
  EXPECT_TRUE(Take<wire::pb::JobEnd>(w0, Kind::kJobEnd).empty());
  PassTime(seconds(2));
  const auto told = Take<wire::pb::JobEnd>(w0, Kind::kJobEnd);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0].message(), HasSubstr("server 1 shard 0 at 127.0.0.1:701 has been silent for 10.0 s"));
  world.Advance(seconds(2));
  ASSERT_EQ(ended.size(), 1U) << "nobody is waited for longer than the linger";
  EXPECT_EQ(ended[0].code(), StatusCode::kUnavailable);
}

TEST_F(SchedulerNodeTest, ABarrierOpensForTheLivingWhenAMemberDies) {
  GatherAll();
  wire::pb::Barrier barrier;
  barrier.set_name("x");
  barrier.set_round(1);
  ASSERT_TRUE(world.transport.DeliverControl(w0, Kind::kBarrier, barrier).ok());
  EXPECT_TRUE(Take<wire::pb::BarrierDone>(w0, Kind::kBarrierDone).empty());
  SayGoodbye(w1, StatusCode::kInternal);
  const auto done = Take<wire::pb::BarrierDone>(w0, Kind::kBarrierDone);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].name(), "x");
  EXPECT_EQ(done[0].round(), 1U);
  EXPECT_TRUE(done[0].error().empty());
}

TEST_F(SchedulerNodeTest, WhoHasLeftGetsAnErrorFromBarriersAndPools) {
  GatherAll();
  Leave(w0);
  wire::pb::Barrier barrier;
  barrier.set_name("x");
  ASSERT_TRUE(world.transport.DeliverControl(w0, Kind::kBarrier, barrier).ok());
  EXPECT_THAT(Take<wire::pb::BarrierDone>(w0, Kind::kBarrierDone).at(0).error(),
              HasSubstr("worker 0 has left"));
  wire::pb::LeaseBatches lease;
  lease.set_pool("p");
  ASSERT_TRUE(world.transport.DeliverControl(w0, Kind::kLeaseBatches, lease).ok());
  EXPECT_THAT(Take<wire::pb::BatchLease>(w0, Kind::kBatchLease).at(0).error(),
              HasSubstr("worker 0 has left"));
}

TEST_F(SchedulerNodeTest, TheLeasesOfADyingWorkerGoToTheOthers) {
  GatherAll();
  wire::pb::LeaseBatches request;
  request.set_pool("p");
  request.set_batches(8);
  request.set_wanted(2);
  request.set_request(1);
  ASSERT_TRUE(world.transport.DeliverControl(w1, Kind::kLeaseBatches, request).ok());
  EXPECT_EQ(Take<wire::pb::BatchLease>(w1, Kind::kBatchLease).at(0).batches(0), 0U);
  SayGoodbye(w1, StatusCode::kInternal);
  ASSERT_TRUE(world.transport.DeliverControl(w0, Kind::kLeaseBatches, request).ok());
  const auto lease = Take<wire::pb::BatchLease>(w0, Kind::kBatchLease).at(0);
  ASSERT_EQ(lease.batches_size(), 2);
  EXPECT_EQ(lease.batches(0), 0U);
  EXPECT_EQ(lease.batches(1), 1U);
  EXPECT_EQ(State()["pools"][0]["leased"], 2);
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
  ASSERT_TRUE(world.transport.DeliverControl(w0, Kind::kReport, report).ok());
  (*report.mutable_values())["pushes"] = 6;
  ASSERT_TRUE(world.transport.DeliverControl(w1, Kind::kReport, report).ok());
  wire::pb::Report shard;
  (*shard.mutable_values())["applied"] = 7;
  ASSERT_TRUE(world.transport.DeliverControl(s0, Kind::kReport, shard).ok());
  const auto state = State();
  EXPECT_EQ(state["workers"][0]["iteration"], 12);
  EXPECT_EQ(state["workers"][0]["waiting_for"], "block 3");
  EXPECT_EQ(state["workers"][1]["figures"]["pushes"], 6);
  EXPECT_EQ(state["totals"]["worker.pushes"], 11);
  EXPECT_EQ(state["totals"]["server.applied"], 7);
  EXPECT_EQ(state["tables"][0]["name"], "w");
  EXPECT_EQ(state["tables"][0]["blocks"], 2);
}

TEST_F(SchedulerNodeTest, FramesOutOfRoleOrPlaceAreCutOffAndHarmNobodyElse) {
  GatherAll();
  (void)world.transport.DeliverControl(s0, Kind::kLeave, wire::pb::Leave());
  EXPECT_FALSE(world.transport.IsOpen(s0));
  EXPECT_THAT(Take<wire::pb::JobEnd>(w0, Kind::kJobEnd).at(0).message(), HasSubstr("server 0 shard 0"));
}

TEST_F(SchedulerNodeTest, AnAckFromTheFutureIsCutOff) {
  GatherAll();
  wire::pb::EpochAck ack;
  ack.set_epoch(99);
  (void)world.transport.DeliverControl(s1, Kind::kEpochAck, ack);
  const auto told = Take<wire::pb::Goodbye>(s1, Kind::kGoodbye);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0].message(), HasSubstr("acknowledged epoch 99, wanted at most 1"));
}

TEST_F(SchedulerNodeTest, StopTellsEveryoneAndEnds) {
  GatherAll();
  node->Stop(Cancelled("interrupted"));
  EXPECT_TRUE(ended.empty()) << "no callback from inside a call";
  EXPECT_EQ(Take<wire::pb::JobEnd>(w1, Kind::kJobEnd).at(0).message(), "interrupted");
  EXPECT_EQ(Take<wire::pb::JobEnd>(s1, Kind::kJobEnd).at(0).code(),
            static_cast<std::uint32_t>(StatusCode::kCancelled));
  world.Advance(seconds(2));
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].code(), StatusCode::kCancelled);
  EXPECT_EQ(world.transport.open(), 0U);
  world.Advance(seconds(60));
  EXPECT_EQ(ended.size(), 1U);
}

TEST_F(SchedulerNodeTest, BadOptionsAreRefusedAtTheStart) {
  const auto start = [this] {
    SchedulerNode bad(options, world.env, SchedulerPolicies{sync, optimizers, placements},
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

}  // namespace
}  // namespace leeway
