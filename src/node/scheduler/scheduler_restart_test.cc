// A scheduler with a log: what it says and when, and what another one makes of it.
#include "node/scheduler/log_file.h"
#include "node/scheduler/testing/hand_fed_scheduler.h"

namespace leeway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HandFedScheduler;
using ::testing::HasSubstr;
using wire::Kind;

constexpr const char* kRestartLog = "/logs/scheduler.log";

class SchedulerRestartTest : public HandFedScheduler {
 protected:
  void SetUp() override {
    HandFedScheduler::SetUp();
    options.log_folder = "/logs";
  }
  void StartWithLog() {
    StartNode();
    Settle();
  }
  // The job of GatherAll, with a log.
  void GatherLogged() {
    StartWithLog();
    ComeBack();
    ASSERT_EQ(Take<wire::pb::Roster>(w0, Kind::kRoster).size(), 1U);
    AckAll(1);
    Settle();
    world.transport.sent.clear();
  }
  void ComeBack() {
    w0 = HelloWorker(0, 100);
    w1 = HelloWorker(1, 101);
    s0 = HelloShard(0, 200);
    s1 = HelloShard(1, 201);
  }
  // kill -9, and started again; everybody comes back.
  void Crash() {
    node.reset();
    world.transport.sent.clear();
  }
  void Restart() {
    Crash();
    StartWithLog();
    ComeBack();
  }
  // A job of one table, whose checkpoint 1 is whole.
  void WriteCheckpoint() {
    options.checkpoint.folder = "/checkpoints";
    options.checkpoint.every_iterations = 10;
    GatherLogged();
    Define(w0, 1, "t", 8);  // a block on each shard
    Settle();
    AckAll(2);
    Settle();
    const auto cuts = Take<wire::pb::Cut>(s0, Kind::kCut);
    ASSERT_EQ(cuts.size(), 1U);
    for (std::uint32_t i = 0; i < 2; ++i) {
      wire::pb::CutReply reply;
      reply.set_checkpoint(cuts[0].checkpoint());
      reply.set_file("shard-00" + std::to_string(i) + ".lwc");
      reply.set_bytes(1000);
      wire::pb::CutBlock& block = *reply.add_blocks();
      block.set_block(i);
      block.set_offset(100);
      block.set_bytes(200);
      block.set_v_train(10);
      block.set_term(1);
      world.storage.files["/checkpoints/checkpoint-00000001/" + reply.file()].resize(reply.bytes());
      ASSERT_TRUE(world.transport.DeliverControl(i == 0 ? s0 : s1, Kind::kCutReply, reply).ok());
    }
    NoStates(cuts[0].checkpoint());
    Settle();
    ASSERT_TRUE(world.storage.files.contains("/checkpoints/checkpoint-00000001/manifest.json"));
  }
  std::vector<std::string> Workers(const char* what) {
    std::vector<std::string> values;
    const nlohmann::json state = State();
    for (const auto& worker : state["workers"]) values.push_back(worker[what].dump());
    return values;
  }
};

TEST_F(SchedulerRestartTest, NothingIsAnnouncedBeforeItIsInTheLog) {
  GatherLogged();
  Leave(w1);
  world.Advance(Duration::zero());  // the write is under way
  EXPECT_TRUE(Take<wire::pb::Left>(w1, Kind::kLeft).empty());
  EXPECT_TRUE(Take<wire::pb::Roster>(s0, Kind::kRoster).empty());
  ASSERT_TRUE(world.storage.Step());  // appended, not synced
  EXPECT_TRUE(world.transport.sent.empty());
  ASSERT_TRUE(world.storage.Step());
  EXPECT_EQ(Take<wire::pb::Left>(w1, Kind::kLeft).size(), 1U);
  EXPECT_EQ(Take<wire::pb::Roster>(s0, Kind::kRoster).size(), 1U);
}

TEST_F(SchedulerRestartTest, ALeaseWaitsForTheAppendAlone) {
  GatherLogged();
  wire::pb::LeaseBatches request;
  request.set_request(1);
  request.set_pool("p");
  request.set_batches(10);
  request.set_wanted(1);
  ASSERT_TRUE(world.transport.DeliverControl(w0, Kind::kLeaseBatches, request).ok());
  world.Advance(Duration::zero());
  EXPECT_TRUE(world.transport.sent.empty());
  ASSERT_EQ(world.storage.pending(), 1U);
  ASSERT_TRUE(world.storage.Step());
  EXPECT_EQ(Take<wire::pb::BatchLease>(w0, Kind::kBatchLease).size(), 1U);
}

TEST_F(SchedulerRestartTest, WhatChangesNothingIsNotHeldUp) {
  GatherLogged();
  Define(w0, 1, "t", 0);  // refused
  Settle();
  world.storage.calls.clear();
  Define(w0, 2, "t", 0);
  world.Advance(Duration::zero());
  EXPECT_EQ(Take<wire::pb::TableMap>(w0, Kind::kTableMap).size(), 2U);
  EXPECT_TRUE(world.storage.calls.empty());
}

TEST_F(SchedulerRestartTest, ChangesDuringAWriteShareTheNext) {
  GatherLogged();
  Leave(w1);
  world.Advance(Duration::zero());
  world.storage.calls.clear();
  Leave(w0);
  Define(w0, 1, "t", 4);  // refused: it has left, or not; in any case after
  world.Advance(Duration::zero());
  EXPECT_TRUE(world.storage.calls.empty()) << "one at a time";
  world.storage.RunAll();
  EXPECT_EQ(Take<wire::pb::Left>(w1, Kind::kLeft).size(), 1U);
  EXPECT_EQ(world.storage.calls,
            (std::vector<std::string>{"append /logs/scheduler.log", "sync /logs/scheduler.log"}));
  EXPECT_EQ(Take<wire::pb::Left>(w0, Kind::kLeft).size(), 1U);
}

TEST_F(SchedulerRestartTest, EverybodyFindsItsSeatAgain) {
  GatherLogged();
  Define(w0, 1, "t", 16);
  Settle();
  AckAll(2);
  Settle();
  Crash();
  StartWithLog();
  EXPECT_EQ(State()["phase"], "running");
  EXPECT_EQ(State()["epoch"], 2);
  // In another order, and asking for any rank.
  w1 = HelloWorker(-1, 101);
  EXPECT_EQ(welcome.id(), 1U);
  EXPECT_EQ(welcome.incarnation(), 1U);
  w0 = HelloWorker(-1, 100);
  EXPECT_EQ(welcome.id(), 0U);
  s1 = HelloShard(1, 201);
  s0 = HelloShard(0, 200);
  const auto maps = Take<wire::pb::TableMap>(s0, Kind::kTableMap);
  ASSERT_EQ(maps.size(), 2U) << "all tables, then the epoch";
  EXPECT_EQ(maps[0].tables_size(), 1);
  EXPECT_EQ(maps[1].epoch(), 2U);
  Define(w0, 1, "t", 16);  // its answer was lost
  Settle();
  EXPECT_TRUE(Take<wire::pb::TableMap>(w0, Kind::kTableMap).empty())
      << "the shards have not acknowledged it anew";
  AckAll(2);
  Settle();
  EXPECT_EQ(Take<wire::pb::TableMap>(w0, Kind::kTableMap).size(), 1U);
}

TEST_F(SchedulerRestartTest, TheJobIsAsOldAsItsTraining) {
  GatherLogged();
  EXPECT_FALSE(State().contains("took_over_s"));
  PassTime(seconds(40));
  Crash();
  StartWithLog();
  ComeBack();
  PassTime(seconds(2));
  EXPECT_EQ(State()["took_over_s"], 2);
  EXPECT_EQ(State()["uptime_s"], 2);
  wire::pb::Report report;
  report.mutable_moment()->set_training_s(42);
  ASSERT_TRUE(world.transport.DeliverControl(w0, Kind::kReport, report).ok());
  EXPECT_EQ(State()["uptime_s"], 42) << "its first step was before this scheduler";
}

TEST_F(SchedulerRestartTest, WhileItGathersToo) {
  StartWithLog();
  w1 = HelloWorker(-1, 101);
  EXPECT_EQ(welcome.id(), 0U);
  Crash();
  StartWithLog();
  w0 = HelloWorker(-1, 100);
  EXPECT_EQ(welcome.id(), 1U) << "the other is taken";
  w1 = HelloWorker(0, 101);
  EXPECT_EQ(welcome.incarnation(), 1U);
  s0 = HelloShard(0, 200);
  s1 = HelloShard(1, 201);
  EXPECT_EQ(Take<wire::pb::Roster>(w0, Kind::kRoster).size(), 1U);
}

TEST_F(SchedulerRestartTest, NobodyIsJudgedBeforeOneWholePeriod) {
  GatherLogged();
  Crash();
  world.Advance(seconds(600));
  StartWithLog();
  world.Advance(options.expel_after - seconds(2));
  Settle();
  EXPECT_EQ(Workers("state"), (std::vector<std::string>{"\"suspect\"", "\"suspect\""}));
  ComeBack();
  PassTime(seconds(20));
  Settle();
  EXPECT_EQ(Workers("state"), (std::vector<std::string>{"\"joined\"", "\"joined\""}));
  EXPECT_TRUE(ended.empty());
}

TEST_F(SchedulerRestartTest, AJoinGoesOnWhereItWas) {
  GatherLogged();
  (void)world.transport.Lose(w1);
  w1 = HelloWorker(1, 111);  // another life, for which the shards have not said where it begins
  Settle();
  EXPECT_TRUE(Take<wire::pb::Roster>(w1, Kind::kRoster).back().members(1).joining());
  Crash();
  StartWithLog();
  w0 = HelloWorker(0, 100);
  w1 = HelloWorker(1, 111);
  EXPECT_EQ(welcome.incarnation(), 2U);
  s0 = HelloShard(0, 200);
  s1 = HelloShard(1, 201);
  EXPECT_TRUE(Take<wire::pb::Roster>(w1, Kind::kRoster).back().members(1).joining());
  AckAll(2);
  Settle();
  const auto rosters = Take<wire::pb::Roster>(w1, Kind::kRoster);
  ASSERT_FALSE(rosters.empty());
  EXPECT_FALSE(rosters.back().members(1).joining());
}

TEST_F(SchedulerRestartTest, BeforeTheLogIsReadEverybodyIsToldToAskAgain) {
  GatherLogged();
  Crash();
  StartNode();
  const ConnectionId early = world.transport.Accept();
  (void)testing::SayHello(world.transport, early, BaseHello(wire::pb::ROLE_WORKER, 100));
  world.Advance(Duration::zero());
  const auto refusals = Take<wire::pb::Welcome>(early, Kind::kWelcome);
  ASSERT_EQ(refusals.size(), 1U);
  EXPECT_EQ(refusals[0].error_code(), static_cast<std::uint32_t>(StatusCode::kUnavailable));
}

TEST_F(SchedulerRestartTest, WhatItFoundIsSafeBeforeAnybodyHearsOfIt) {
  GatherLogged();
  Crash();
  StartNode();
  world.storage.calls.clear();
  ASSERT_TRUE(world.storage.Step());  // the folder is locked
  ASSERT_TRUE(world.storage.Step());  // the log is read
  const ConnectionId id = world.transport.Accept();
  (void)testing::SayHello(world.transport, id, BaseHello(wire::pb::ROLE_WORKER, 100));
  world.Advance(Duration::zero());
  EXPECT_TRUE(world.transport.sent.empty());
  Settle();
  EXPECT_EQ(Take<wire::pb::Welcome>(id, Kind::kWelcome).size(), 1U);
  EXPECT_THAT(world.storage.calls, ::testing::Contains("rename /logs/scheduler.log.tmp /logs/scheduler.log"));
}

TEST_F(SchedulerRestartTest, ALogOfAnotherJobIsAnErrorThatNamesIt) {
  GatherLogged();
  Crash();
  const auto error = [this](const std::function<void(JobOptions&)>& change) {
    const JobOptions before = options.job;
    const auto log = world.storage.files[kRestartLog];
    change(options.job);
    ended.clear();
    StartWithLog();
    options.job = before;
    EXPECT_EQ(world.storage.files[kRestartLog], log) << "the log is left alone";
    EXPECT_EQ(ended.size(), 1U);
    return ended.empty() ? "" : ended[0].message();
  };
  EXPECT_THAT(error([](JobOptions& job) { job.job = "other"; }), HasSubstr("name: got other, wanted j"));
  EXPECT_THAT(error([](JobOptions& job) { job.workers = 3; }), HasSubstr("workers: got 3, wanted 2"));
  EXPECT_THAT(error([](JobOptions& job) { job.servers = 1; }), HasSubstr("servers: got 1, wanted 2"));
  EXPECT_THAT(error([](JobOptions& job) { job.shards = 2; }),
              HasSubstr("shards per server: got 2, wanted 1"));
  Restart();
  EXPECT_EQ(State()["phase"], "running") << "with the right options it goes on";
}

TEST_F(SchedulerRestartTest, ADamagedLogIsLeftAlone) {
  GatherLogged();
  Leave(w0);
  Settle();
  Leave(w1);
  Settle();
  Crash();
  auto& log = world.storage.files[kRestartLog];
  const Result<DecodedLog> decoded = DecodeLog(log);
  ASSERT_TRUE(decoded.ok() && decoded->records.size() > 2);
  log[log.size() / 2] ^= std::byte{1};
  const auto before = log;
  StartWithLog();
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_THAT(ended[0].message(), HasSubstr("the scheduler's log /logs/scheduler.log"));
  EXPECT_EQ(world.storage.files[kRestartLog], before);
}

TEST_F(SchedulerRestartTest, AJobThatIsOverEndsAgainTheSameWay) {
  GatherLogged();
  node->Stop(Unavailable("enough"));
  Settle();
  EXPECT_EQ(Take<wire::pb::JobEnd>(s0, Kind::kJobEnd).size(), 1U);
  Crash();
  StartWithLog();
  s1 = HelloShard(1, 201);
  const auto ends = Take<wire::pb::JobEnd>(s1, Kind::kJobEnd);
  ASSERT_EQ(ends.size(), 1U) << "one that the first could not tell";
  EXPECT_EQ(ends[0].message(), "enough");
  EXPECT_TRUE(ended.empty());
  world.Advance(options.expel_after + seconds(4));
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].message(), "enough");
}

TEST_F(SchedulerRestartTest, TheEndIsInTheLogBeforeItIsToldAndTheProcessEnds) {
  GatherLogged();
  for (const ConnectionId id : {w0, w1}) {
    Leave(id);
    Settle();
    SayGoodbye(id);
  }
  world.storage.failure = Unavailable("the device is broken");
  world.Advance(seconds(3));
  world.storage.RunAll();
  EXPECT_TRUE(ended.empty());
  EXPECT_TRUE(Take<wire::pb::JobEnd>(s0, Kind::kJobEnd).empty());
  world.storage.failure = Status::Ok();
  world.Advance(seconds(1));
  Settle();
  EXPECT_EQ(Take<wire::pb::JobEnd>(s0, Kind::kJobEnd).size(), 1U);
  SayGoodbye(s0);
  SayGoodbye(s1);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_TRUE(ended[0].ok());
}

TEST_F(SchedulerRestartTest, ALogThatCannotBeWrittenEndsTheJobAtTheLimit) {
  options.gather_timeout = seconds(5);
  GatherLogged();
  world.storage.failure = ResourceExhausted("no room left");
  Leave(w1);
  for (int i = 0; i < 55; ++i) {
    world.Advance(milliseconds(100));
    world.storage.RunAll();
  }
  EXPECT_TRUE(Take<wire::pb::Left>(w1, Kind::kLeft).empty()) << "never announced";
  const auto ends = Take<wire::pb::JobEnd>(w0, Kind::kJobEnd);
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].code(), static_cast<std::uint32_t>(StatusCode::kUnavailable));
  EXPECT_THAT(ends[0].message(), HasSubstr(kRestartLog));
  EXPECT_THAT(ends[0].message(), HasSubstr("no room left"));
  world.Advance(options.link.hello_timeout);
  EXPECT_EQ(ended.size(), 1U);
}

TEST_F(SchedulerRestartTest, StoppedBeforeTheLogIsReadItLeavesItAlone) {
  GatherLogged();
  Crash();
  const auto before = world.storage.files[kRestartLog];
  StartNode();
  node->Stop(Cancelled("asked to stop"));
  Settle();
  world.Advance(options.link.hello_timeout);
  EXPECT_EQ(ended.size(), 1U);
  EXPECT_EQ(world.storage.files[kRestartLog], before);
}

TEST_F(SchedulerRestartTest, AServerIsReplacedFromTheCheckpointThatTheSchedulerBeforeWrote) {
  WriteCheckpoint();
  Crash();
  StartWithLog();
  world.Advance(std::chrono::seconds(3));  // the one before does not come back
  s1 = HelloShard(1, 333);                 // another life in the place of a server that died meanwhile
  const auto told = [this](ConnectionId shard) {
    const auto maps = Take<wire::pb::TableMap>(shard, Kind::kTableMap);
    return maps.empty() || maps[0].tables().empty() ? wire::pb::Block() : maps[0].tables(0).blocks(1);
  };
  const wire::pb::Block block = told(s1);
  EXPECT_EQ(block.term(), 2U);
  EXPECT_TRUE(block.restore().patch());
  EXPECT_EQ(block.restore().file(), "/checkpoints/checkpoint-00000001/shard-001.lwc");

  Crash();
  StartWithLog();
  s1 = HelloShard(1, 333);
  EXPECT_EQ(ControlBody(told(s1)), ControlBody(block)) << "the next one knows of it";
  EXPECT_EQ(State()["epoch"], 3);
  wire::pb::Hello former = BaseHello(wire::pb::ROLE_SERVER, 201);
  former.set_server(1);
  former.set_listen("127.0.0.1:701");
  former.set_incarnation(1);
  (void)SayHello(former);
  EXPECT_EQ(welcome.error_code(), static_cast<std::uint32_t>(StatusCode::kFenced));
}

TEST_F(SchedulerRestartTest, ACheckpointThatCannotBeReadIsSpokenOfWhenAServerIsLost) {
  WriteCheckpoint();
  Crash();
  world.storage.files["/checkpoints/checkpoint-00000001/manifest.json"].resize(10);
  StartWithLog();
  EXPECT_THAT(world.log.lines,
              ::testing::Contains(HasSubstr("cannot be read: /checkpoints/checkpoint-00000001")));
  EXPECT_EQ(State()["phase"], "running") << "as long as no server is lost";
  ComeBack();
  world.transport.sent.clear();
  SayGoodbye(s1, StatusCode::kInternal);
  Settle();
  const auto told = Take<wire::pb::JobEnd>(w0, Kind::kJobEnd);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0].message(),
              HasSubstr("the last checkpoint could not be read: /checkpoints/checkpoint-00000001: "));
}

TEST_F(SchedulerRestartTest, AFolderThatAnotherSchedulerWritesToIsAnErrorThatNamesIt) {
  world.storage.locked_by_others.insert("/logs/scheduler.lock");
  StartWithLog();
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(ended[0].message(), HasSubstr("the folder /logs of the scheduler's log"));
  EXPECT_TRUE(world.storage.files.empty()) << "nothing is written";
}

TEST_F(SchedulerRestartTest, NoCheckpointIsBegunBeforeTheFolderIsLocked) {
  WriteCheckpoint();
  const auto wait = [this] {
    for (int i = 0; i < 20; ++i) {
      world.Advance(std::chrono::milliseconds(100));
      Settle();
    }
  };
  Crash();
  // The process that died has it for a moment more.
  world.storage.locked_by_others.insert("/checkpoints/checkpoints.lock");
  StartWithLog();
  ComeBack();
  wait();
  EXPECT_TRUE(Take<wire::pb::Cut>(s0, Kind::kCut).empty());
  world.storage.locked_by_others.clear();
  wait();
  EXPECT_EQ(Take<wire::pb::Cut>(s0, Kind::kCut).size(), 1U);
  EXPECT_TRUE(ended.empty());
}

TEST_F(SchedulerRestartTest, APoolGoesOnWhereItWas) {
  GatherLogged();
  wire::pb::LeaseBatches request;
  request.set_request(1);
  request.set_pool("p");
  request.set_batches(10);
  request.set_wanted(2);
  ASSERT_TRUE(world.transport.DeliverControl(w0, Kind::kLeaseBatches, request).ok());
  Settle();
  const auto before = Take<wire::pb::BatchLease>(w0, Kind::kBatchLease);
  Restart();
  ASSERT_TRUE(world.transport.DeliverControl(w0, Kind::kLeaseBatches, request).ok());  // its answer was lost
  Settle();
  const auto after = Take<wire::pb::BatchLease>(w0, Kind::kBatchLease);
  ASSERT_EQ(before.size(), 1U);
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(ControlBody(after[0]), ControlBody(before[0]));
}

}  // namespace
}  // namespace leeway
