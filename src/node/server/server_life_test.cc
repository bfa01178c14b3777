// A shard and its scheduler, its members coming and going, and its end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/server/server_node.h"
#include "node/server/testing/hand_fed_server.h"

namespace leeway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ParseAs;
using testing::SentFrame;
using wire::Kind;

using ServerLifeTest = testing::HandFedServer;

TEST_F(ServerLifeTest, RegistersWithItsAddressAndAgainAfterALoss) {
  EXPECT_EQ(hello.role(), wire::pb::ROLE_SERVER);
  EXPECT_EQ(hello.job(), "j");
  EXPECT_EQ(hello.server(), 1U);
  EXPECT_EQ(hello.listen(), node->address());
  const std::uint64_t life = hello.life();
  (void)world.transport.Lose(scheduler);
  world.Advance(milliseconds(30));
  GreetScheduler();
  EXPECT_EQ(hello.life(), life) << "the same life";
  EXPECT_TRUE(ended.empty());
}

TEST_F(ServerLifeTest, ALoopbackAddressIsNoneForASchedulerOnAnotherMachine) {
  EXPECT_THAT(node->address(), HasSubstr("127.0.0.1"));
  world.transport.host = scheduler_host = "box";
  (void)world.transport.Lose(scheduler);
  world.Advance(milliseconds(30));
  GreetScheduler();
  EXPECT_TRUE(ended.empty()) << "on the same machine it is a good one";

  scheduler_host = "another";
  (void)world.transport.Lose(scheduler);
  world.Advance(milliseconds(30));
  GreetScheduler();
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].code(), StatusCode::kInvalidArgument);
  for (const char* part :
       {"server 1", "127.0.0.1", "only this machine can reach", "--listen HOST:0 --bind-any"})
    EXPECT_THAT(ended[0].message(), HasSubstr(part));
}

TEST_F(ServerLifeTest, MakesItsOwnBlocksAndAcknowledgesEpochs) {
  SetUpTable("asp");
  std::vector<std::uint64_t> acks;
  for (const SentFrame& frame : world.transport.TakeSent(scheduler, Kind::kEpochAck)) {
    acks.push_back(ParseAs<wire::pb::EpochAck>(frame).epoch());
  }
  EXPECT_THAT(acks, ElementsAre(1, 2));
  EXPECT_EQ(node->FindBlock(BlockId(0)), nullptr);
  ASSERT_NE(node->FindBlock(BlockId(1)), nullptr);
  EXPECT_EQ(node->FindBlock(BlockId(3))->elements(), 2U);
  EXPECT_EQ(node->FindBlock(BlockId(99)), nullptr);
  const Block* before = node->FindBlock(BlockId(1));
  SendMap(Map("asp", 4, 2));
  EXPECT_EQ(node->FindBlock(BlockId(1)), before) << "a map that comes again changes nothing";
}

TEST_F(ServerLifeTest, AHalfReceivedPushLeavesNoTrace) {
  SetUpTable("asp");
  const ConnectionId w0 = HelloWorker(0);
  Init(w0, 0, 1, {0, 0});
  std::vector<std::byte> body;
  wire::Push push;
  push.worker = WorkerId(0);
  push.incarnation = Incarnation(1);
  push.iteration = Iteration(0);
  push.entries = {Entry(1, 1, 2)};
  wire::Encode(push, body);
  {
    const Result<Landing> landing = world.transport.DeliverStart(w0, Kind::kPush, body, Bytes(2));
    ASSERT_TRUE(landing.ok());
    ASSERT_EQ(landing->places.size(), 1U);
  }
  (void)world.transport.Lose(w0);
  EXPECT_THAT(Values(1), ElementsAre(0, 0));
  const ConnectionId again = HelloWorker(0);
  ASSERT_TRUE(Push(again, 0, 0, {Entry(1, 1, 2)}, {1, 1}).ok());
  EXPECT_THAT(Verdicts(again), ElementsAre("1:1:applied"));
}

TEST_F(ServerLifeTest, AReconnectReplacesTheSession) {
  SetUpTable("bsp");
  const ConnectionId w0 = HelloWorker(0);
  const ConnectionId w1 = HelloWorker(1);
  Init(w0, 0, 1, {0, 0});
  ASSERT_TRUE(Push(w0, 0, 0, {Entry(1, 1, 2)}, {1, 1}).ok());
  ASSERT_TRUE(Pull(w0, 0, 0, {1}).ok());
  const ConnectionId again = HelloWorker(0);
  EXPECT_FALSE(world.transport.IsOpen(w0));
  EXPECT_EQ(node->FindBlock(BlockId(1))->waiting(), 0U) << "it pulls again";
  ASSERT_TRUE(Push(again, 0, 0, {Entry(1, 1, 2)}, {1, 1}).ok());
  EXPECT_THAT(Verdicts(again), ElementsAre("1:1:summed"));
  ASSERT_TRUE(Pull(again, 0, 0, {1}).ok());
  ASSERT_TRUE(Push(w1, 1, 0, {Entry(1, 1, 2)}, {1, 1}).ok());
  EXPECT_EQ(world.transport.TakeSent(again, Kind::kAnswers).size(), 1U);
  EXPECT_EQ(node->counters().summed, 2U);
  EXPECT_EQ(node->counters().repeated, 1U);
}

TEST_F(ServerLifeTest, AFencedLifeIsRefusedAndOneThatIsThereIsClosed) {
  SetUpTable("asp");
  const ConnectionId w1 = HelloWorker(1);
  SendRoster(3, 2, {}, {1});
  EXPECT_FALSE(world.transport.IsOpen(w1));
  EXPECT_THAT(GoodbyeTo(w1), HasSubstr("worker 1 incarnation 1 was declared dead"));
  HelloWorker(1);
  EXPECT_EQ(welcome.error_code(), static_cast<std::uint32_t>(StatusCode::kFenced));
  SendRoster(4, 2, {0});
  HelloWorker(0);
  EXPECT_TRUE(welcome.error().empty()) << "one that left may still pull";
}

TEST_F(ServerLifeTest, AnOlderIncarnationIsFencedAndAStrangerIsLetIn) {
  SetUpTable("asp");
  wire::pb::Roster roster;
  roster.set_epoch(5);
  wire::pb::Member& member = *roster.add_members();
  member.set_worker(0);
  member.set_incarnation(3);
  ASSERT_TRUE(world.transport.DeliverControl(scheduler, Kind::kRoster, roster).ok());
  HelloWorker(0, 2);
  EXPECT_THAT(welcome.error(), HasSubstr("worker 0 incarnation 2 was replaced by incarnation 3"));
  HelloWorker(0, 4);
  EXPECT_TRUE(welcome.error().empty());
  HelloWorker(9, 1);
  EXPECT_TRUE(welcome.error().empty());
}

TEST_F(ServerLifeTest, AMemberThatDiesIsWaitedForNoMore) {
  SetUpTable("bsp");
  const ConnectionId w0 = HelloWorker(0);
  Init(w0, 0, 1, {0, 0});
  ASSERT_TRUE(Push(w0, 0, 0, {Entry(1, 1, 2)}, {1, 1}).ok());
  ASSERT_TRUE(Pull(w0, 0, 0, {1}).ok());
  EXPECT_TRUE(world.transport.TakeSent(w0, Kind::kAnswers).empty());
  SendRoster(3, 2, {}, {1});
  EXPECT_EQ(world.transport.TakeSent(w0, Kind::kAnswers).size(), 1U);
}

TEST_F(ServerLifeTest, ReportsItsFiguresWithEveryBeat) {
  SetUpTable("bsp");
  const ConnectionId w0 = HelloWorker(0);
  Init(w0, 0, 1, {0, 0});
  Init(w0, 0, 3, {0, 0});
  ASSERT_TRUE(Push(w0, 0, 0, {Entry(1, 1, 2), Entry(3, 1, 2)}, {1, 1, 1, 1}).ok());
  ASSERT_TRUE(Pull(w0, 0, 0, {1, 3}).ok());
  (void)world.transport.TakeSent(scheduler);
  world.Advance(seconds(1));
  const auto reports = world.transport.TakeSent(scheduler, Kind::kReport);
  ASSERT_EQ(reports.size(), 1U);
  const auto report = ParseAs<wire::pb::Report>(reports[0]);
  EXPECT_EQ(report.values().at("summed"), 2);
  EXPECT_EQ(report.values().at("waiting"), 2);
  EXPECT_EQ(report.values().at("dpr"), 1) << "one worker, one iteration";
  EXPECT_EQ(report.values().at("blocks"), 2);
  EXPECT_EQ(report.values().at("values_bytes"), 16);
  EXPECT_GT(report.values().at("bytes_in"), 100);
  EXPECT_GT(report.values().at("bytes_out"), 50);
  EXPECT_FALSE(report.waiting_for().empty());
}

TEST_F(ServerLifeTest, WarnsOnceOfHyperParametersThatDifferAndOfStepsThatOverflow) {
  SetUpTable("bsp");
  const ConnectionId w0 = HelloWorker(0);
  const ConnectionId w1 = HelloWorker(1);
  Init(w0, 0, 3, {0, 0});
  for (std::int64_t iteration = 0; iteration < 2; ++iteration) {
    for (const auto& [id, rank] : {std::pair(w0, 0U), std::pair(w1, 1U)}) {
      wire::Push push;
      push.worker = WorkerId(rank);
      push.incarnation = Incarnation(1);
      push.iteration = Iteration(iteration);
      push.hyper.lr = static_cast<float>(rank + 1);
      push.entries = {Entry(3, static_cast<std::uint64_t>(iteration) + 1, 2)};
      ASSERT_TRUE(world.transport.DeliverData(id, Kind::kPush, push, std::vector<float>{3e38F, 1}).ok());
    }
    world.Advance(seconds(1));
  }
  EXPECT_EQ(node->counters().hyper_mismatches, 2U);
  EXPECT_EQ(node->counters().overflowed, 2U);
  const auto reports = world.transport.TakeSent(scheduler, Kind::kReport);
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(ParseAs<wire::pb::Report>(reports.back()).values().at("overflowed"), 2);
  const auto said = [this](const char* what) {
    return std::ranges::count_if(world.log.lines, [&](const std::string& line) {
      return line.find("table \"w\" block 3: ") != std::string::npos && line.find(what) != std::string::npos;
    });
  };
  EXPECT_EQ(said("different hyper-parameters"), 1);
  EXPECT_EQ(said("not finite"), 1);
}

TEST_F(ServerLifeTest, EndsWithTheJob) {
  const ConnectionId w0 = HelloWorker(0);
  wire::pb::JobEnd end;
  ASSERT_TRUE(world.transport.DeliverControl(scheduler, Kind::kJobEnd, end).ok());
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_TRUE(ended[0].ok());
  EXPECT_EQ(world.transport.TakeSent(scheduler, Kind::kGoodbye).size(), 1U);
  EXPECT_FALSE(world.transport.IsOpen(w0));
  EXPECT_EQ(world.timers.pending(), 0U);
}

TEST_F(ServerLifeTest, EndsWithTheReasonOfAJobThatFailed) {
  wire::pb::JobEnd end;
  end.set_code(static_cast<std::uint32_t>(StatusCode::kCancelled));
  end.set_message("interrupted");
  ASSERT_TRUE(world.transport.DeliverControl(scheduler, Kind::kJobEnd, end).ok());
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].ToString(), Cancelled("interrupted").ToString());
}

TEST_F(ServerLifeTest, EndsWhenTheSchedulerIsGoneForGood) {
  (void)world.transport.Lose(scheduler);
  world.Advance(seconds(29));
  EXPECT_TRUE(ended.empty());
  world.Advance(seconds(2));
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_THAT(ended[0].message(), HasSubstr("no answer from scheduler at sched:1 for 30.0 s"));
}

TEST_F(ServerLifeTest, APolicyThatIsUnknownHereEndsTheShardWhichSaysSo) {
  SendRoster(1, 1);
  SendMap(Map("mine:3", 2, 2));
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_THAT(ended[0].message(), HasSubstr("table \"w\": unknown sync model \"mine\""));
  EXPECT_THAT(GoodbyeTo(scheduler), HasSubstr("unknown sync model"));
}

TEST_F(ServerLifeTest, TakesWorkersOnly) {
  const ConnectionId id = world.transport.Accept();
  wire::pb::Hello said = hello;
  said.set_role(wire::pb::ROLE_SERVER);
  (void)SayHello(world.transport, id, said);
  EXPECT_THAT(ParseAs<wire::pb::Welcome>(world.transport.TakeSent(id).at(0)).error(),
              HasSubstr("takes workers only"));
}

TEST_F(ServerLifeTest, StopSaysGoodbyeAndIsNotReported) {
  node->Stop();
  EXPECT_EQ(world.transport.TakeSent(scheduler, Kind::kGoodbye).size(), 1U);
  EXPECT_EQ(world.timers.pending(), 0U);
  EXPECT_TRUE(ended.empty());
}

}  // namespace
}  // namespace leeway
