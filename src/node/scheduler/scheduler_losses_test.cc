// Members and shards of a scheduler that leave, die, are lost and come back; the end of the job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.h"
#include "node/scheduler/testing/hand_fed_scheduler.h"

namespace leeway {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using testing::ParseAs;
using wire::Kind;

using SchedulerLossesTest = testing::HandFedScheduler;

TEST_F(SchedulerLossesTest, AShardThatComesBackGetsAllTablesThenTheRoster) {
  GatherAll();
  Define(w0, 1, "w", 6);
  (void)world.transport.Lose(s1);
  Ack(s0, 2);
  world.transport.sent.clear();
  s1 = HelloShard(1, 201);
  const auto sent = world.transport.TakeSent(s1);
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_EQ(sent[0].kind, Kind::kTableMap);
  EXPECT_EQ(ParseAs<wire::pb::TableMap>(sent[0]).tables_size(), 1);
  EXPECT_EQ(ParseAs<wire::pb::TableMap>(sent[0]).epoch(), 0U)
      << "not to be acknowledged before the roster is there";
  EXPECT_EQ(sent[1].kind, Kind::kRoster);
  EXPECT_EQ(ParseAs<wire::pb::TableMap>(sent[2]).epoch(), 2U);
  EXPECT_TRUE(Take<wire::pb::TableMap>(w0, Kind::kTableMap).empty());
  Ack(s1, 2);
  EXPECT_EQ(Take<wire::pb::TableMap>(w0, Kind::kTableMap).size(), 1U);
}

TEST_F(SchedulerLossesTest, ALeavingWorkerIsGoneInTheRosterAndLearnsItsEpoch) {
  GatherAll();
  Leave(w0);
  const auto sent = world.transport.TakeSent(w0);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(ParseAs<wire::pb::Left>(sent[0]).epoch(), 2U);
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

TEST_F(SchedulerLossesTest, ALifeWhoseProcessALauncherSawEndIsDeadAtOnce) {
  GatherAll();
  const ConnectionId monitor = SayHello(BaseHello(wire::pb::ROLE_MONITOR, 900));
  const auto tell = [&](ConnectionId from, std::uint32_t worker, std::uint32_t incarnation) {
    wire::pb::StatusRequest request;
    request.set_request(1);
    wire::pb::Life& life = *request.add_ended();
    life.set_worker(worker);
    life.set_incarnation(incarnation);
    ASSERT_TRUE(world.transport.DeliverControl(from, Kind::kStatusRequest, request).ok());
  };
  tell(w0, 1, 1);
  EXPECT_EQ(State()["workers"][1]["state"], "joined") << "a worker's word of another does not count";
  tell(monitor, 1, 2);
  tell(monitor, 7, 1);
  EXPECT_EQ(State()["workers"][1]["state"], "joined") << "no such life has the seat";

  tell(monitor, 1, 1);
  EXPECT_EQ(State()["workers"][1]["state"], "dead");
  EXPECT_FALSE(world.transport.IsOpen(w1)) << "the life is fenced";
  const auto rosters = Take<wire::pb::Roster>(s0, Kind::kRoster);
  ASSERT_EQ(rosters.size(), 1U);
  EXPECT_TRUE(rosters[0].members(1).dead()) << "blocks wait for it no more, and no time has passed";

  w1 = HelloWorker(1, 102);
  EXPECT_EQ(welcome.incarnation(), 2U);
  tell(monitor, 1, 1);
  EXPECT_EQ(State()["workers"][1]["state"], "joined")
      << "what is said of the life before does not hurt the next";
  EXPECT_TRUE(world.transport.IsOpen(w1));
}

TEST_F(SchedulerLossesTest, UnderWaitTheSeatOfALifeWhoseProcessEndedIsKept) {
  options.on_worker_loss = OnWorkerLoss::kWait;
  GatherAll();
  const ConnectionId monitor = SayHello(BaseHello(wire::pb::ROLE_MONITOR, 900));
  wire::pb::StatusRequest request;
  request.add_ended()->set_incarnation(1);
  ASSERT_TRUE(world.transport.DeliverControl(monitor, Kind::kStatusRequest, request).ok());
  EXPECT_EQ(State()["workers"][0]["state"], "lost");
  EXPECT_TRUE(ended.empty());
}

TEST_F(SchedulerLossesTest, WhileManyGoTheyAreToldOfTogether) {
  const std::vector<ConnectionId> workers = GatherMany(1000);
  const auto rosters = [this](ConnectionId id) { return Take<wire::pb::Roster>(id, Kind::kRoster); };
  for (std::uint32_t rank = 0; rank < 5; ++rank) Leave(workers[rank]);
  EXPECT_EQ(rosters(s0).size(), 1U) << "of the first at once";
  world.Advance(std::chrono::milliseconds(250));
  const auto together = rosters(s0);
  ASSERT_EQ(together.size(), 1U);
  EXPECT_TRUE(together[0].members(4).gone());
  EXPECT_FALSE(together[0].members(5).gone());
  EXPECT_EQ(together[0].epoch(), 6U);
  EXPECT_TRUE(rosters(workers[9]).empty()) << "workers can wait longer";
  world.Advance(std::chrono::seconds(10));
  EXPECT_EQ(rosters(workers[9]).size(), 1U);
}

TEST_F(SchedulerLossesTest, ShardsHearWhoIsGoneBeforeAnythingElseOfALaterEpoch) {
  const std::vector<ConnectionId> workers = GatherMany(3);
  Leave(workers[0]);
  Leave(workers[1]);
  world.transport.sent.clear();
  Define(workers[2], 1, "t", 8);
  const auto sent = world.transport.TakeSent(s0);
  ASSERT_EQ(sent.size(), 2U);
  ASSERT_EQ(sent[0].kind, Kind::kRoster) << "an acknowledgement of the tables covers it";
  EXPECT_TRUE(ParseAs<wire::pb::Roster>(sent[0]).members(1).gone());
  EXPECT_EQ(ParseAs<wire::pb::TableMap>(sent[1]).epoch(), 4U);
  world.Advance(std::chrono::milliseconds(1));
  EXPECT_TRUE(Take<wire::pb::Roster>(s0, Kind::kRoster).empty()) << "and not again";
}

TEST_F(SchedulerLossesTest, ANewLifeIsInNoRosterOfBeforeItEntered) {
  const std::vector<ConnectionId> workers = GatherMany(4);
  for (std::size_t rank = 0; rank < 3; ++rank) SayGoodbye(workers[rank], StatusCode::kUnavailable);
  world.transport.sent.clear();
  (void)HelloWorker(0, 9000);
  const auto rosters = Take<wire::pb::Roster>(s0, Kind::kRoster);
  ASSERT_EQ(rosters.size(), 2U);
  EXPECT_EQ(rosters[0].members(0).incarnation(), 1U);
  EXPECT_TRUE(rosters[0].members(0).dead());
  EXPECT_EQ(rosters[1].members(0).incarnation(), 2U);
  EXPECT_TRUE(rosters[1].members(0).joining());
}

TEST_F(SchedulerLossesTest, TheJobEndsWellWhenAllHaveLeftAndSaidGoodbye) {
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
  SayGoodbye(s1);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_TRUE(ended[0].ok());
  EXPECT_EQ(world.timers.pending(), 0U);
}

TEST_F(SchedulerLossesTest, ASilentWorkerIsSuspectedThenDeadThenFenced) {
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

TEST_F(SchedulerLossesTest, APauseOfTheSchedulerItselfIsNobodysSilence) {
  GatherAll();
  SendReport(w0, 1);
  (void)world.transport.Lose(s1);
  PassTime(seconds(2));
  world.Pause(seconds(60));
  PassTime(seconds(2));
  EXPECT_TRUE(ended.empty());
  EXPECT_EQ(State()["workers"][0]["state"], "joined");
  EXPECT_EQ(State()["workers"][1]["state"], "joined");
  EXPECT_TRUE(Take<wire::pb::JobEnd>(w0, Kind::kJobEnd).empty()) << "a shard may come back after it as well";
  PassTime(seconds(8), w1);
  EXPECT_FALSE(Take<wire::pb::JobEnd>(w0, Kind::kJobEnd).empty()) << "one that stays away is lost";
}

TEST_F(SchedulerLossesTest, ALostConnectionAloneIsNoDeath) {
  GatherAll();
  (void)world.transport.Lose(w1);
  PassTime(seconds(5));
  EXPECT_TRUE(Take<wire::pb::Roster>(w0, Kind::kRoster).empty());
  w1 = HelloWorker(1, 101);
  EXPECT_TRUE(welcome.error().empty());
  PassTime(seconds(20));
  EXPECT_EQ(State()["workers"][1]["state"], "joined");
}

TEST_F(SchedulerLossesTest, AGoodbyeWithAReasonIsADeathAtOnceEvenIfTheReasonSoundsTemporary) {
  GatherAll();
  SayGoodbye(w1, StatusCode::kUnavailable);
  const auto rosters = Take<wire::pb::Roster>(s0, Kind::kRoster);
  ASSERT_EQ(rosters.size(), 1U);
  EXPECT_TRUE(rosters[0].members(1).dead());
}

TEST_F(SchedulerLossesTest, ALateWorkerBeginsWhereTheSlowestShardSays) {
  GatherAll();
  SayGoodbye(w1, StatusCode::kInternal);
  wire::pb::Report report;
  report.set_iteration(7);
  ASSERT_TRUE(world.transport.DeliverControl(w0, Kind::kReport, report).ok());
  world.transport.sent.clear();
  w1 = HelloWorker(1, 102);
  EXPECT_EQ(welcome.incarnation(), 2U);
  auto rosters = Take<wire::pb::Roster>(s0, Kind::kRoster);
  ASSERT_EQ(rosters.size(), 1U);
  EXPECT_TRUE(rosters[0].members(1).joining());
  EXPECT_EQ(rosters[0].members(1).first(), 8);
  ASSERT_EQ(Take<wire::pb::Roster>(w1, Kind::kRoster).size(), 1U);
  const std::uint64_t epoch = rosters[0].epoch();
  wire::pb::EpochAck ack;
  ack.set_epoch(epoch);
  wire::pb::First& first = *ack.add_firsts();
  first.set_worker(1);
  first.set_incarnation(2);
  first.set_first(11);
  wire::pb::First& own = *ack.add_firsts();
  own.set_worker(1);
  own.set_incarnation(2);
  own.set_own_clock(true);
  own.set_table(0);
  own.set_first(3);
  ASSERT_TRUE(world.transport.DeliverControl(s0, Kind::kEpochAck, ack).ok());
  EXPECT_TRUE(Take<wire::pb::Roster>(w1, Kind::kRoster).empty()) << "one shard has not said";
  Ack(s1, epoch);
  rosters = Take<wire::pb::Roster>(w1, Kind::kRoster);
  ASSERT_EQ(rosters.size(), 1U);
  EXPECT_FALSE(rosters[0].members(1).joining());
  EXPECT_EQ(rosters[0].members(1).first(), 11);
  Define(w1, 1, "w", 6);
  AckAll(epoch + 1);
  const auto map = Take<wire::pb::TableMap>(w1, Kind::kTableMap);
  ASSERT_EQ(map.size(), 1U);
  EXPECT_EQ(map[0].tables(0).first(), 3);
}

TEST_F(SchedulerLossesTest, AJoiningWorkerThatReconnectsStillHearsWhereItBegins) {
  GatherAll();
  SayGoodbye(w1, StatusCode::kInternal);
  w1 = HelloWorker(1, 102);
  (void)world.transport.Lose(w1);
  AckAll(3);
  w1 = HelloWorker(1, 102);
  EXPECT_EQ(welcome.incarnation(), 2U) << "the same life";
  const auto rosters = Take<wire::pb::Roster>(w1, Kind::kRoster);
  ASSERT_FALSE(rosters.empty());
  EXPECT_FALSE(rosters.back().members(1).joining());
}

TEST_F(SchedulerLossesTest, UnderWaitADeadWorkerKeepsItsPlaceUntilANewLifeTakesIt) {
  options.on_worker_loss = OnWorkerLoss::kWait;
  options.gather_timeout = seconds(20);
  GatherAll();
  SayGoodbye(w1, StatusCode::kInternal);
  EXPECT_TRUE(Take<wire::pb::Roster>(s0, Kind::kRoster).empty()) << "it still counts";
  EXPECT_EQ(State()["workers"][1]["state"], "lost");
  PassTime(seconds(15));
  w1 = HelloWorker(1, 102);
  EXPECT_EQ(welcome.incarnation(), 2U);
  PassTime(seconds(30));
  EXPECT_TRUE(Take<wire::pb::JobEnd>(s0, Kind::kJobEnd).empty());
  SayGoodbye(w1, StatusCode::kInternal);
  PassTime(seconds(21));
  const auto told = Take<wire::pb::JobEnd>(s0, Kind::kJobEnd);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0].message(), HasSubstr("worker 1 died, and nobody took its place within 20.0 s"));
}

TEST_F(SchedulerLossesTest, AJobDoesNotShrinkBelowItsLeast) {
  options.min_workers = 1;
  GatherAll();
  SayGoodbye(w1, StatusCode::kInternal);
  EXPECT_EQ(State()["workers"][1]["state"], "dead");
  SayGoodbye(w0, StatusCode::kInternal);
  EXPECT_EQ(State()["workers"][0]["state"], "lost");
  EXPECT_TRUE(Take<wire::pb::JobEnd>(s0, Kind::kJobEnd).empty());
  HelloWorker(0, 103);
  EXPECT_TRUE(welcome.error().empty()) << welcome.error();
}

TEST_F(SchedulerLossesTest, UnderFailADeathEndsTheJobAndIsNamed) {
  options.on_worker_loss = OnWorkerLoss::kFail;
  GatherAll();
  SayGoodbye(w1, StatusCode::kInternal);
  const auto told = Take<wire::pb::JobEnd>(s0, Kind::kJobEnd);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].code(), static_cast<std::uint32_t>(StatusCode::kUnavailable));
  EXPECT_THAT(told[0].message(), HasSubstr("worker 1 died: my own reason"));
}

TEST_F(SchedulerLossesTest, TheStatusCanBeAskedForAfterAnEndThatSomeDidNotGoAlongWith) {
  GatherAll();
  node->Stop(Unavailable("ended by SIGTERM"));
  PassTime(seconds(5));
  ASSERT_EQ(ended.size(), 1U) << "it does not wait for those who stay without end";
  EXPECT_EQ(State()["phase"], "ended");
}

TEST_F(SchedulerLossesTest, WhenAllDieTheJobEndsWithAnError) {
  GatherAll();
  SayGoodbye(w0, StatusCode::kInternal);
  EXPECT_TRUE(Take<wire::pb::JobEnd>(s0, Kind::kJobEnd).empty());
  SayGoodbye(w1, StatusCode::kInternal);
  const auto told = Take<wire::pb::JobEnd>(s0, Kind::kJobEnd);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].message(), "all 2 workers died");
}

TEST_F(SchedulerLossesTest, ALostShardEndsTheJobAndIsNamed) {
  GatherAll();
  SendReport(w0, 1);
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

TEST_F(SchedulerLossesTest, AServerThatStartsAgainAfterTheEndIsToldThatTheJobIsOver) {
  GatherAll();
  SayGoodbye(w0, StatusCode::kOk);
  SayGoodbye(w1, StatusCode::kOk);
  AckAll(State()["epoch"]);
  ASSERT_EQ(Take<wire::pb::JobEnd>(s1, Kind::kJobEnd).size(), 1U);
  (void)world.transport.Lose(s1);  // before the word reached it
  const ConnectionId next = HelloShard(1, 301);
  const auto told = Take<wire::pb::JobEnd>(next, Kind::kJobEnd);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].code(), static_cast<std::uint32_t>(StatusCode::kOk));
  SayGoodbye(s0, StatusCode::kOk);
  EXPECT_TRUE(ended.empty()) << "the other server has not gone yet";
  SayGoodbye(next, StatusCode::kOk);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_TRUE(ended[0].ok());
}

TEST_F(SchedulerLossesTest, AServerThatCannotBeReplacedForWantOfACheckpointEndsTheJobAtOnce) {
  GatherAll();
  SendReport(w0, 1);
  (void)world.transport.Lose(s1);
  (void)HelloShard(1, 301);
  EXPECT_THAT(welcome.error(), HasSubstr("lost its connection a moment ago"));
  PassTime(seconds(3));
  (void)HelloShard(1, 301);
  EXPECT_THAT(welcome.error(), HasSubstr("server 1 shard 0 at 127.0.0.1:701 is gone"));
  const auto told = Take<wire::pb::JobEnd>(w0, Kind::kJobEnd);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0].message(), HasSubstr("no checkpoint was written to resume from"));
}

TEST_F(SchedulerLossesTest, ABarrierOpensForTheLivingWhenAMemberDies) {
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

TEST_F(SchedulerLossesTest, WhoHasLeftGetsAnErrorFromBarriersAndPools) {
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

TEST_F(SchedulerLossesTest, FramesOutOfRoleOrPlaceAreCutOffAndHarmNobodyElse) {
  GatherAll();
  SendReport(w0, 1);
  (void)world.transport.DeliverControl(s0, Kind::kLeave, wire::pb::Leave());
  EXPECT_FALSE(world.transport.IsOpen(s0));
  EXPECT_THAT(Take<wire::pb::JobEnd>(w0, Kind::kJobEnd).at(0).message(), HasSubstr("server 0 shard 0"));
}

TEST_F(SchedulerLossesTest, AnAckFromTheFutureIsCutOff) {
  GatherAll();
  wire::pb::EpochAck ack;
  ack.set_epoch(99);
  (void)world.transport.DeliverControl(s1, Kind::kEpochAck, ack);
  const auto told = Take<wire::pb::Goodbye>(s1, Kind::kGoodbye);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0].message(), HasSubstr("acknowledged epoch 99, wanted at most 1"));
}

TEST_F(SchedulerLossesTest, StopTellsEveryoneAndEnds) {
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

}  // namespace
}  // namespace leeway
