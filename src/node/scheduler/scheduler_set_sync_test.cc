// Other synchronization while the job runs: announcements, answers and refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "node/scheduler/testing/hand_fed_scheduler.h"

namespace leeway {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using testing::HandFedScheduler;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using wire::Kind;

class SchedulerSetSyncTest : public HandFedScheduler {
 protected:
  // Two workers, two servers, and the table "w" of two blocks.
  void Begin() {
    GatherAll();
    Define(w0, 7, "w", 8);
    Settle();
    AckAll(2);
    Settle();
    world.transport.sent.clear();
  }
  ConnectionId HelloMonitor() { return SayHello(BaseHello(wire::pb::ROLE_MONITOR, 900)); }
  ConnectionId HelloWorkerAgain(std::uint32_t rank, std::uint64_t life) {
    wire::pb::Hello hello = BaseHello(wire::pb::ROLE_WORKER, life);
    hello.set_rank(rank);
    hello.set_incarnation(1);
    return SayHello(hello);
  }
  // Without a number it is a new request.
  void SetSync(ConnectionId id, const std::string& rule, std::uint64_t request = 0) {
    wire::pb::SetSync message;
    message.set_request(request > 0 ? request : ++last_request);
    message.set_rule(rule);
    ASSERT_TRUE(world.transport.DeliverControl(id, Kind::kSetSync, message).ok());
    Settle();
  }
  std::vector<wire::pb::SetSyncReply> Replies(ConnectionId id) {
    return Take<wire::pb::SetSyncReply>(id, Kind::kSetSyncReply);
  }
  std::string Refusal(ConnectionId id) {
    const auto replies = Replies(id);
    EXPECT_THAT(replies, SizeIs(1));
    return replies.empty() ? "" : replies[0].error();
  }
  std::string SyncOfTable() { return State()["tables"][0]["sync"]; }

  std::uint64_t last_request = 100;
};

TEST_F(SchedulerSetSyncTest, EveryoneIsToldAndTheAnswerComesWhenEveryShardHasIt) {
  Begin();
  const ConnectionId monitor = HelloMonitor();
  SetSync(monitor, "server=1 sync=ssp:3", 5);
  for (const ConnectionId id : {w0, w1, s0, s1}) {
    const auto maps = Take<wire::pb::TableMap>(id, Kind::kTableMap);
    ASSERT_THAT(maps, SizeIs(1));
    EXPECT_EQ(maps[0].request(), 0U);
    EXPECT_EQ(maps[0].epoch(), 3U);
    ASSERT_THAT(maps[0].tables(), SizeIs(1));
    EXPECT_EQ(maps[0].tables(0).sync(), "bsp");
    ASSERT_THAT(maps[0].tables(0).of_servers(), SizeIs(1));
    EXPECT_EQ(maps[0].tables(0).of_servers(0).server(), 1U);
    EXPECT_EQ(maps[0].tables(0).of_servers(0).sync(), "ssp:3");
    EXPECT_THAT(maps[0].tables(0).blocks(), SizeIs(2));
  }
  EXPECT_THAT(Replies(monitor), SizeIs(0));
  Ack(s0, 3);
  EXPECT_THAT(Replies(monitor), SizeIs(0)) << "server 1 has not taken it";
  Ack(s1, 3);
  const auto replies = Replies(monitor);
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].request(), 5U);
  EXPECT_EQ(replies[0].error(), "");
  EXPECT_EQ(replies[0].tables(), 1U);
  EXPECT_EQ(State()["rules"][0], "server=1 sync=ssp:3");
}

TEST_F(SchedulerSetSyncTest, AWorkerMaySetItToo) {
  Begin();
  SetSync(w1, "sync=asp");
  EXPECT_THAT(Take<wire::pb::TableMap>(w0, Kind::kTableMap), SizeIs(1));
  AckAll(3);
  EXPECT_THAT(Replies(w1), SizeIs(1));
  EXPECT_THAT(Replies(w0), SizeIs(0));
}

TEST_F(SchedulerSetSyncTest, WhatTheJobCannotHaveIsRefusedAndNothingChanges) {
  Begin();
  const ConnectionId monitor = HelloMonitor();
  for (const auto& [rule, wanted] : std::vector<std::pair<std::string, std::string>>{
           {"sync=drop:9", "needs 9 workers, got a job of 2"},
           {"sync=pssp:3,0.5 apply=aggregate", "use immediate"},
           {"tables=fc* sync=asp", "matches no table of the job; it has 1: w"},
           {"server=2 sync=asp", "wanted 0 to 1"},
           {"sync=bpp", "did you mean \"bsp\"?"},
           {"sync=", "sync: got nothing"}}) {
    SetSync(monitor, rule);
    EXPECT_THAT(Refusal(monitor), HasSubstr(wanted)) << rule;
  }
  EXPECT_THAT(Take<wire::pb::TableMap>(s0, Kind::kTableMap), SizeIs(0));
  EXPECT_EQ(State()["epoch"], 2);
  EXPECT_EQ(State()["tables"][0]["sync"], "bsp");
}

TEST_F(SchedulerSetSyncTest, BeforeThereIsAnythingToSwitchItSaysSo) {
  StartNode();
  const ConnectionId monitor = HelloMonitor();
  SetSync(monitor, "sync=asp");
  EXPECT_THAT(Refusal(monitor), HasSubstr("has not begun"));
}

TEST_F(SchedulerSetSyncTest, WithoutTablesItIsRefused) {
  GatherAll();
  const ConnectionId monitor = HelloMonitor();
  SetSync(monitor, "sync=asp");
  EXPECT_THAT(Refusal(monitor), HasSubstr("no tables yet"));
}

TEST_F(SchedulerSetSyncTest, AskedAgainItWaitsForTheSameShards) {
  Begin();
  SetSync(w0, "sync=asp", 1);
  (void)Take<wire::pb::TableMap>(s0, Kind::kTableMap);
  SetSync(w0, "sync=asp", 2);
  EXPECT_THAT(Take<wire::pb::TableMap>(s0, Kind::kTableMap), SizeIs(0)) << "nothing changes";
  EXPECT_THAT(Replies(w0), SizeIs(0));
  AckAll(3);
  EXPECT_THAT(Replies(w0), SizeIs(2));
}

TEST_F(SchedulerSetSyncTest, OneThatIsAskedAgainAfterALostLinkDoesNotUndoWhatWasSetSince) {
  Begin();
  SetSync(w0, "sync=ssp:3", 1);
  (void)world.transport.Lose(w0);  // before the answer
  const ConnectionId monitor = HelloMonitor();
  SetSync(monitor, "sync=bsp", 1);
  AckAll(4);
  ASSERT_THAT(Replies(monitor), SizeIs(1));
  w0 = HelloWorkerAgain(0, 100);
  (void)Take<wire::pb::TableMap>(s0, Kind::kTableMap);
  SetSync(w0, "sync=ssp:3", 1);
  const auto replies = Replies(w0);
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].error(), "") << "it was done";
  EXPECT_EQ(replies[0].tables(), 1U);
  EXPECT_EQ(SyncOfTable(), "bsp") << "and bsp was set after it";
  EXPECT_THAT(Take<wire::pb::TableMap>(s0, Kind::kTableMap), SizeIs(0));
  SetSync(w0, "sync=ssp:3", 2);
  EXPECT_EQ(SyncOfTable(), "ssp:3") << "asked anew";
}

TEST_F(SchedulerSetSyncTest, WhatWasRefusedStaysSoThoughItMightBeDoneByNow) {
  Begin();
  SetSync(w0, "tables=v sync=asp", 1);
  EXPECT_THAT(Refusal(w0), HasSubstr("matches no table"));
  Define(w1, 8, "v", 8);
  Settle();
  AckAll(3);
  SetSync(w0, "tables=v sync=asp", 1);
  EXPECT_THAT(Refusal(w0), HasSubstr("matches no table"));
}

TEST_F(SchedulerSetSyncTest, ASchedulerThatIsStartedAgainKnowsWhatItAnswered) {
  options.log_folder = "/logs";
  StartNode();
  Settle();
  w0 = HelloWorker(0, 100);
  w1 = HelloWorker(1, 101);
  s0 = HelloShard(0, 200);
  s1 = HelloShard(1, 201);
  Settle();
  AckAll(1);
  Define(w0, 7, "w", 8);
  Settle();
  AckAll(2);
  Settle();
  SetSync(w0, "sync=ssp:3", 1);
  (void)world.transport.Lose(w0);
  SetSync(w1, "sync=bsp", 1);
  node.reset();
  world.transport.sent.clear();
  StartNode();
  Settle();
  s0 = HelloShard(0, 200);
  s1 = HelloShard(1, 201);
  w0 = HelloWorkerAgain(0, 100);
  Settle();
  AckAll(State()["epoch"].get<std::uint64_t>());
  SetSync(w0, "sync=ssp:3", 1);
  const auto replies = Replies(w0);
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].error(), "");
  EXPECT_EQ(SyncOfTable(), "bsp");
}

TEST_F(SchedulerSetSyncTest, ARuleOfTheStartThatMeansNoTableIsSaidToOnceTheJobTrains) {
  options.job.rules = {"tables=lstm* sync=asp", "tables=w sync=ssp:2"};
  Begin();
  const auto warnings = [this] {
    return std::ranges::count_if(world.log.lines, [](const std::string& line) {
      return line.find("matches no table of the job so far") != std::string::npos;
    });
  };
  PassTime(seconds(2));
  EXPECT_EQ(warnings(), 0) << "there may be more tables before it trains";
  wire::pb::Report report;
  report.set_iteration(1);
  ASSERT_TRUE(world.transport.DeliverControl(w0, Kind::kReport, report).ok());
  PassTime(seconds(3));
  EXPECT_EQ(warnings(), 1);
  EXPECT_THAT(world.log.lines,
              ::testing::Contains(AllOf(HasSubstr("tables=lstm* sync=asp"), HasSubstr("it has 1: w"))));
}

TEST_F(SchedulerSetSyncTest, WhoDoesNotTakeItIsNamedInTime) {
  Begin();
  const ConnectionId monitor = HelloMonitor();
  SetSync(monitor, "sync=asp");
  Ack(s0, 3);
  PassTime(options.expel_after + seconds(2));
  const auto replies = Replies(monitor);
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_THAT(replies[0].error(), AllOf(HasSubstr("the rule is set"), HasSubstr("server 1 shard 0")));
  EXPECT_THAT(replies[0].error(), ::testing::Not(HasSubstr("server 0")));
  Ack(s1, 3);
  EXPECT_THAT(Replies(monitor), SizeIs(0)) << "answered once";
}

TEST_F(SchedulerSetSyncTest, AShardAndAWorkerThatComeBackAreToldWhatTheyMissed) {
  Begin();
  (void)world.transport.Lose(s1);
  (void)world.transport.Lose(w1);
  SetSync(w0, "sync=asp");
  s1 = HelloShard(1, 201);
  const auto maps = Take<wire::pb::TableMap>(s1, Kind::kTableMap);
  ASSERT_FALSE(maps.empty());
  EXPECT_EQ(maps[0].tables(0).sync(), "asp");
  wire::pb::Hello hello = BaseHello(wire::pb::ROLE_WORKER, 101);
  hello.set_rank(1);
  hello.set_incarnation(1);
  w1 = SayHello(hello);
  const auto told = Take<wire::pb::TableMap>(w1, Kind::kTableMap);
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].request(), 0U);
  EXPECT_EQ(told[0].tables(0).sync(), "asp");
}

TEST_F(SchedulerSetSyncTest, NobodyHearsOfARuleBeforeItIsInTheLogAndARestartHasIt) {
  options.log_folder = "/logs";
  StartNode();
  Settle();
  w0 = HelloWorker(0, 100);
  w1 = HelloWorker(1, 101);
  s0 = HelloShard(0, 200);
  s1 = HelloShard(1, 201);
  Settle();
  AckAll(1);
  Define(w0, 7, "w", 8);
  Settle();
  AckAll(2);
  Settle();
  world.transport.sent.clear();
  wire::pb::SetSync message;
  message.set_request(1);
  message.set_rule("server=1 sync=ssp:3");
  ASSERT_TRUE(world.transport.DeliverControl(w0, Kind::kSetSync, message).ok());
  world.Advance(Duration::zero());
  EXPECT_THAT(Take<wire::pb::TableMap>(s0, Kind::kTableMap), SizeIs(0)) << "not written yet";
  Settle();
  EXPECT_THAT(Take<wire::pb::TableMap>(s0, Kind::kTableMap), SizeIs(1));
  node.reset();
  world.transport.sent.clear();
  StartNode();
  Settle();
  EXPECT_EQ(State()["rules"][0], "server=1 sync=ssp:3");
  s1 = HelloShard(1, 201);
  Settle();
  const auto maps = Take<wire::pb::TableMap>(s1, Kind::kTableMap);
  ASSERT_FALSE(maps.empty());
  ASSERT_THAT(maps[0].tables(0).of_servers(), SizeIs(1));
  EXPECT_EQ(maps[0].tables(0).of_servers(0).sync(), "ssp:3");
}

TEST_F(SchedulerSetSyncTest, TheStatusShowsWhatEachServerFollowsNotWhatItWasTold) {
  Begin();
  SetSync(w0, "server=1 sync=ssp:3");
  wire::pb::Report report;
  report.add_models()->set_sync("bsp");
  wire::pb::TableReport& row = *report.add_tables();
  row.set_blocks(1);
  row.set_model(1);
  ASSERT_TRUE(world.transport.DeliverControl(s1, Kind::kReport, report).ok());
  EXPECT_EQ(State()["tables"][0]["servers"][0]["sync"], "bsp");
  report.mutable_models(0)->set_sync("ssp:3");
  report.mutable_models(0)->set_apply("immediate");
  ASSERT_TRUE(world.transport.DeliverControl(s1, Kind::kReport, report).ok());
  EXPECT_EQ(State()["tables"][0]["servers"][0]["sync"], "ssp:3");
  EXPECT_EQ(State()["tables"][0]["servers"][0]["apply"], "immediate");
  row.set_model(9);  // a peer's word: no such model
  ASSERT_TRUE(world.transport.DeliverControl(s1, Kind::kReport, report).ok());
  EXPECT_EQ(State()["tables"][0]["servers"][0]["sync"], "");
}

TEST_F(SchedulerSetSyncTest, TheStatusShowsEachTableOnEachServer) {
  Begin();
  SetSync(w0, "server=1 sync=ssp:3");
  wire::pb::Report report;
  report.add_models()->set_sync("ssp:3");
  wire::pb::TableReport& row = *report.add_tables();
  row.set_model(1);
  row.set_v_train_min(4);
  row.set_v_train_max(5);
  row.set_fastest(7);
  row.set_slowest(3);
  row.set_waiting(2);
  row.set_waiting_for("worker 0 waits");
  row.set_dpr(9);
  row.set_blocks(1);
  wire::pb::TableReport& more = *report.add_tables();
  more.set_more_tables(12);
  more.set_blocks(20);
  ASSERT_TRUE(world.transport.DeliverControl(s1, Kind::kReport, report).ok());
  const nlohmann::json servers = State()["tables"][0]["servers"];
  ASSERT_THAT(servers, SizeIs(1));
  EXPECT_EQ(servers[0]["server"], 1);
  EXPECT_EQ(servers[0]["sync"], "ssp:3");
  EXPECT_EQ(servers[0]["v_train"], 4);
  EXPECT_EQ(servers[0]["v_train_max"], 5);
  EXPECT_EQ(servers[0]["fastest"], 7);
  EXPECT_EQ(servers[0]["slowest"], 3);
  EXPECT_EQ(servers[0]["waiting"], 2);
  EXPECT_EQ(servers[0]["dpr"], 9);
  EXPECT_EQ(State()["more_tables"][0]["tables"], 12);
}

}  // namespace
}  // namespace leeway
