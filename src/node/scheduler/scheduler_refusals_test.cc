// Tables that a shard has no memory for; monitors and others that take more than they should.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/scheduler/testing/hand_fed_scheduler.h"

namespace leeway {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using wire::Kind;

class SchedulerRefusalsTest : public testing::HandFedScheduler {
 protected:
  void Refuse(ConnectionId shard, std::uint64_t epoch, std::uint32_t table) {
    wire::pb::EpochAck ack;
    ack.set_epoch(epoch);
    wire::pb::TableRefusal& refusal = *ack.add_refused();
    refusal.set_table(table);
    refusal.set_error("table \"big\": no memory for its blocks, 8000 bytes\n12:00:00 I forged");
    ASSERT_TRUE(world.transport.DeliverControl(shard, Kind::kEpochAck, ack).ok());
  }
  std::vector<wire::pb::TableMap> Maps(ConnectionId id) {
    return Take<wire::pb::TableMap>(id, Kind::kTableMap);
  }
  ConnectionId HelloMonitor(std::uint64_t life) { return SayHello(BaseHello(wire::pb::ROLE_MONITOR, life)); }
  void AskStatus(ConnectionId id) {
    (void)world.transport.DeliverControl(id, Kind::kStatusRequest, wire::pb::StatusRequest());
  }
};

TEST_F(SchedulerRefusalsTest, ARefusedTableIsWithdrawnAndWhoeverAskedHearsWhy) {
  GatherAll();
  Define(w0, 1, "big", 8);
  Define(w1, 2, "big", 8);
  EXPECT_EQ(Maps(s0).size(), 1U);
  EXPECT_EQ(Maps(s1).size(), 1U);
  Refuse(s1, 2, 0);
  EXPECT_TRUE(Maps(w0).empty()) << "not before every shard has answered";
  Ack(s0, 2);
  for (const ConnectionId worker : {w0, w1}) {
    const auto replies = Maps(worker);
    ASSERT_EQ(replies.size(), 1U);
    EXPECT_THAT(replies[0].error(), AllOf(HasSubstr("server 1 shard 0 at 127.0.0.1:701"),
                                          HasSubstr("8000 bytes"), HasSubstr("\\n12:00:00")));
    EXPECT_EQ(replies[0].error_code(), static_cast<std::uint32_t>(StatusCode::kResourceExhausted));
    EXPECT_EQ(replies[0].tables_size(), 0);
  }
  for (const ConnectionId shard : {s0, s1}) {
    const auto maps = Maps(shard);
    ASSERT_EQ(maps.size(), 1U);
    EXPECT_EQ(maps[0].epoch(), 3U);
    EXPECT_TRUE(maps[0].has_tables_kept());
    EXPECT_EQ(maps[0].tables_kept(), 0U);
  }
  EXPECT_EQ(State()["tables"].size(), 0U);
  EXPECT_EQ(State()["phase"], "running");

  Define(w1, 3, "small", 4);
  EXPECT_TRUE(Maps(s0).empty()) << "its ids are those of the one that shards may still have";
  AckAll(3);
  ASSERT_EQ(Maps(s0).size(), 1U);
  AckAll(4);
  const auto replies = Maps(w1);
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(replies[0].error(), "");
  EXPECT_EQ(replies[0].tables(0).id(), 0U);
  EXPECT_EQ(replies[0].tables(0).blocks(0).block(), 0U);
}

TEST_F(SchedulerRefusalsTest, DefinitionsAreSettledOneAfterTheOther) {
  GatherAll();
  Define(w0, 1, "a", 4);
  Define(w1, 1, "b", 4);
  EXPECT_EQ(Maps(s0).size(), 1U);
  AckAll(2);
  EXPECT_EQ(Maps(w0).size(), 1U);
  ASSERT_EQ(Maps(s0).size(), 1U) << "now the second";
  Refuse(s0, 3, 1);
  Ack(s1, 3);
  EXPECT_NE(Maps(w1).at(0).error(), "");
  EXPECT_EQ(Maps(s1).back().tables_kept(), 1U) << "the first one stays";
  ASSERT_EQ(State()["tables"].size(), 1U);
  EXPECT_EQ(State()["tables"][0]["name"], "a");
}

TEST_F(SchedulerRefusalsTest, AShardThatComesBackMeanwhileRefusesAgain) {
  GatherAll();
  Define(w0, 1, "big", 8);
  Refuse(s0, 2, 0);
  s0 = HelloShard(0, 200);
  Refuse(s0, 2, 0);
  Ack(s1, 2);
  EXPECT_NE(Maps(w0).at(0).error(), "");
  EXPECT_EQ(Maps(s0).back().tables_kept(), 0U);
  Refuse(s0, 2, 0);  // it had been told of the table once more before that was withdrawn
  AckAll(3);
  EXPECT_TRUE(ended.empty());
  EXPECT_EQ(State()["phase"], "running");
}

TEST_F(SchedulerRefusalsTest, ATableInUseThatIsRefusedEndsTheJob) {
  GatherAll();
  Define(w0, 1, "big", 8);
  AckAll(2);
  EXPECT_EQ(Maps(w0).at(0).error(), "");
  Refuse(s0, 2, 0);  // another process that has less memory
  const auto ends = Take<wire::pb::JobEnd>(w0, Kind::kJobEnd);
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_THAT(ends[0].message(), HasSubstr("8000 bytes"));
}

TEST_F(SchedulerRefusalsTest, AWithdrawalIsInTheLog) {
  options.log_folder = "log";
  StartNode();
  Settle();
  w0 = HelloWorker(0, 100);
  w1 = HelloWorker(1, 101);
  s0 = HelloShard(0, 200);
  s1 = HelloShard(1, 201);
  AckAll(1);
  Define(w0, 1, "first", 4);
  Settle();
  AckAll(2);
  Define(w0, 2, "big", 8);
  Settle();
  Refuse(s0, 3, 1);
  Ack(s1, 3);
  Settle();
  EXPECT_THAT(Maps(w0).back().error(), HasSubstr("8000 bytes"));
  node.reset();
  StartNode();
  Settle();
  ASSERT_EQ(State()["tables"].size(), 1U);
  EXPECT_EQ(State()["tables"][0]["name"], "first");
}

TEST_F(SchedulerRefusalsTest, MonitorsAreBounded) {
  options.monitors_max = 2;
  StartNode();
  (void)HelloMonitor(1);
  const ConnectionId second = HelloMonitor(2);
  EXPECT_EQ(welcome.error(), "");
  (void)HelloMonitor(3);
  EXPECT_THAT(welcome.error(),
              AllOf(HasSubstr("2 monitors"), HasSubstr("monitors_max"), HasSubstr("end one")));
  SayGoodbye(second);
  (void)HelloMonitor(4);
  EXPECT_EQ(welcome.error(), "") << "there is room again";
  (void)HelloWorker(0, 100);
  EXPECT_EQ(welcome.error(), "") << "workers are not counted";
}

TEST_F(SchedulerRefusalsTest, AMonitorThatDoesNotReadGetsOneAnswerAndIsCutOff) {
  StartNode();
  const ConnectionId monitor = HelloMonitor(1);
  AskStatus(monitor);
  EXPECT_EQ(world.transport.TakeSent(monitor, Kind::kStatusReply).size(), 1U);
  world.transport.queued_bytes = 1'000;
  for (int i = 0; i < 100; ++i) AskStatus(monitor);
  EXPECT_TRUE(world.transport.TakeSent(monitor, Kind::kStatusReply).empty());
  EXPECT_TRUE(world.transport.IsOpen(monitor));
  world.transport.queued_bytes = 0;
  AskStatus(monitor);
  EXPECT_EQ(world.transport.TakeSent(monitor, Kind::kStatusReply).size(), 1U)
      << "it has read, and asks again";
  world.transport.queued_bytes = 1'000;
  for (int i = 0; i < 101; ++i) AskStatus(monitor);
  EXPECT_FALSE(world.transport.IsOpen(monitor));
}

TEST_F(SchedulerRefusalsTest, APingThatIsOnItsWayIsNoUnreadAnswer) {
  StartNode();
  const ConnectionId monitor = HelloMonitor(1);
  world.transport.queued_bytes = 16;
  AskStatus(monitor);
  AskStatus(monitor);
  EXPECT_EQ(world.transport.TakeSent(monitor, Kind::kStatusReply).size(), 2U);
}

TEST_F(SchedulerRefusalsTest, AWorkerThatAsksForMoreThanItReadsIsCutOff) {
  GatherAll();
  world.transport.queued_bytes = options.link.unread_bytes_max + 1;
  Define(w0, 1, "a", 4);
  EXPECT_FALSE(world.transport.IsOpen(w0));
  const auto goodbyes = Take<wire::pb::Goodbye>(w0, Kind::kGoodbye);
  ASSERT_EQ(goodbyes.size(), 1U);
  EXPECT_THAT(goodbyes[0].message(), HasSubstr("unread_bytes_max"));
}

TEST_F(SchedulerRefusalsTest, ForgedTextIsPrintedAsText) {
  const std::string forged = "x\n12:00:00 I fine\x1b[2J";
  StartNode();
  wire::pb::Hello hello = BaseHello(wire::pb::ROLE_WORKER, 1);
  hello.set_rank(0);
  hello.set_host(forged);
  w0 = SayHello(hello);
  EXPECT_EQ(State()["workers"][0]["host"], "x\\n12:00:00 I fine\\x1b[2J");
  wire::pb::Report report;
  report.set_waiting_for(forged);
  (*report.mutable_values())[forged] = 1.0;
  (*report.mutable_values())["good"] = 1.0;
  ASSERT_TRUE(world.transport.DeliverControl(w0, Kind::kReport, report).ok());
  EXPECT_EQ(State()["workers"][0]["waiting_for"], "x\\n12:00:00 I fine\\x1b[2J");
  EXPECT_EQ(State()["workers"][0]["figures"].size(), 1U);
  wire::pb::Hello server = BaseHello(wire::pb::ROLE_SERVER, 2);
  server.set_listen(forged);
  (void)SayHello(server);
  EXPECT_THAT(welcome.error(), AllOf(HasSubstr("wanted host:port"), HasSubstr("x\\n12:00")));
}

}  // namespace
}  // namespace leeway
