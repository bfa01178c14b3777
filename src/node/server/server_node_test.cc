// One shard, fed by hand: the test is the scheduler and all workers.
#include "node/server/server_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "node/testing/fake_env.h"
#include "optimizer/optimizers.h"
#include "sync/sync_policy.h"

namespace leeway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::DecodeAs;
using ::testing::ElementsAre;
using testing::FakeEnv;
using ::testing::HasSubstr;
using testing::ParseAs;
using testing::SentFrame;
using wire::Kind;
using wire::Verdict;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

class ServerNodeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options.job = "j";
    options.server = 1;
    node = std::make_unique<ServerNode>(
        options, world.env, ServerPolicies{sync, optimizers},
        [] { return Result<std::string>(std::string("sched:1")); },
        [this](const Status& why) { ended.push_back(why); });
    ASSERT_TRUE(node->Start().ok());
    GreetScheduler();
  }
  void GreetScheduler() {
    scheduler = world.transport.CompleteConnect();
    hello = ParseAs<wire::pb::Hello>(world.transport.TakeSent(scheduler, Kind::kHello).at(0));
    wire::pb::Welcome welcome;
    welcome.set_version(1);
    welcome.set_id(1);
    welcome.mutable_job()->set_seed(3);
    ASSERT_TRUE(world.transport.DeliverControl(scheduler, Kind::kWelcome, welcome).ok());
  }
  // Members 0 .. n - 1, of which `gone` and `dead` are.
  void SendRoster(std::uint64_t epoch, std::uint32_t n, std::vector<std::uint32_t> gone = {},
                  std::vector<std::uint32_t> dead = {}) {
    wire::pb::Roster roster;
    roster.set_epoch(epoch);
    roster.set_gathered(true);
    for (std::uint32_t i = 0; i < n; ++i) {
      wire::pb::Member& member = *roster.add_members();
      member.set_worker(i);
      member.set_incarnation(1);
      member.set_dead(std::ranges::count(dead, i) > 0);
      member.set_gone(member.dead() || std::ranges::count(gone, i) > 0);
    }
    ASSERT_TRUE(world.transport.DeliverControl(scheduler, Kind::kRoster, roster).ok());
  }
  // Table 0 with blocks 0, 1, ... of `elements` each; block 1 and every other one after it belong to this
  // shard.
  wire::pb::TableMap Map(const std::string& sync_spec, std::uint32_t blocks, std::uint64_t elements,
                         const std::string& optimizer = "sum") {
    wire::pb::TableMap map;
    map.set_epoch(2);
    wire::pb::Table& table = *map.add_tables();
    table.set_name("w");
    table.add_shape(static_cast<std::int64_t>(blocks * elements));
    table.set_dtype(1);
    table.set_sync(sync_spec);
    table.set_optimizer(optimizer);
    for (std::uint32_t i = 0; i < blocks; ++i) {
      wire::pb::Block& block = *table.add_blocks();
      block.set_block(i);
      block.set_offset(i * elements);
      block.set_elements(elements);
      block.set_shard(i % 2);
      block.set_term(1);
    }
    return map;
  }
  void SendMap(const wire::pb::TableMap& map) {
    ASSERT_TRUE(world.transport.DeliverControl(scheduler, Kind::kTableMap, map).ok());
  }
  // Two members and a table of blocks 0 to 3, two elements each: blocks 1 and 3 are here.
  void SetUpTable(const std::string& sync_spec, std::uint32_t members = 2) {
    SendRoster(1, members);
    SendMap(Map(sync_spec, 4, 2));
  }
  ConnectionId HelloWorker(std::uint32_t rank, std::uint32_t incarnation = 1) {
    const ConnectionId id = world.transport.Accept();
    wire::pb::Hello said;
    said.set_version_min(1);
    said.set_version_max(1);
    said.set_job("j");
    said.set_role(wire::pb::ROLE_WORKER);
    said.set_rank(rank);
    said.set_incarnation(incarnation);
    (void)world.transport.DeliverControl(id, Kind::kHello, said);
    welcome = ParseAs<wire::pb::Welcome>(world.transport.TakeSent(id).at(0));
    return id;
  }
  void Init(ConnectionId id, std::uint32_t rank, std::uint32_t block, const std::vector<float>& values) {
    wire::Init init{WorkerId(rank), Incarnation(1), {{BlockId(block), Term(1), Bytes(values.size())}}};
    ASSERT_TRUE(world.transport.DeliverData(id, Kind::kInit, init, values).ok());
  }
  static std::uint32_t Bytes(std::size_t floats) {
    return static_cast<std::uint32_t>(floats * sizeof(float));
  }
  static wire::PushEntry Entry(std::uint32_t block, std::uint64_t seq, std::size_t floats) {
    wire::PushEntry entry;
    entry.block = BlockId(block);
    entry.term = Term(1);
    entry.seq = Seq(seq);
    entry.payload_bytes = Bytes(floats);
    return entry;
  }
  Status Push(ConnectionId id, std::uint32_t rank, std::int64_t iteration,
              const std::vector<wire::PushEntry>& entries, const std::vector<float>& payload) {
    wire::Push push;
    push.worker = WorkerId(rank);
    push.incarnation = Incarnation(1);
    push.iteration = Iteration(iteration);
    push.entries = entries;
    return world.transport.DeliverData(id, Kind::kPush, push, payload);
  }
  Status Pull(ConnectionId id, std::uint32_t rank, std::int64_t progress,
              const std::vector<std::uint32_t>& blocks) {
    wire::Pull pull;
    pull.worker = WorkerId(rank);
    pull.incarnation = Incarnation(1);
    for (const std::uint32_t block : blocks) {
      pull.entries.push_back({BlockId(block), Term(1), Iteration(progress), Version(0), 1.0F});
    }
    return world.transport.DeliverData(id, Kind::kPull, pull);
  }
  // Every verdict sent to `id`, as "block:seq:verdict".
  std::vector<std::string> Verdicts(ConnectionId id) {
    std::vector<std::string> verdicts;
    for (const SentFrame& frame : world.transport.TakeSent(id, Kind::kVerdicts)) {
      for (const auto& entry : DecodeAs<wire::Verdicts>(frame).entries) {
        verdicts.push_back(
            fmt::format("{}:{}:{}", entry.block.value(), entry.seq.value(), Name(entry.verdict)));
      }
    }
    return verdicts;
  }
  static std::string Name(Verdict verdict) {
    switch (verdict) {
      case Verdict::kApplied:
        return "applied";
      case Verdict::kSummed:
        return "summed";
      case Verdict::kAbsent:
        return "absent";
      case Verdict::kRefused:
        return "refused";
      case Verdict::kInitialized:
        return "initialized";
      case Verdict::kMoved:
        return "moved";
      default:
        return std::to_string(static_cast<int>(verdict));
    }
  }
  std::string GoodbyeTo(ConnectionId id) {
    const auto sent = world.transport.TakeSent(id, Kind::kGoodbye);
    return sent.empty() ? "no goodbye" : ParseAs<wire::pb::Goodbye>(sent[0]).message();
  }
  std::vector<float> Values(std::uint32_t block) {
    const std::span<const float> values = node->FindBlock(BlockId(block))->values();
    return {values.begin(), values.end()};
  }

  FakeEnv world;
  ServerOptions options;
  Registry<SyncModel> sync = BuiltinSyncModels();
  Registry<Optimizer> optimizers = BuiltinOptimizers();
  std::vector<Status> ended;
  ConnectionId scheduler;
  wire::pb::Hello hello;
  wire::pb::Welcome welcome;
  std::unique_ptr<ServerNode> node;
};

TEST_F(ServerNodeTest, RegistersWithItsAddressAndAgainAfterALoss) {
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

TEST_F(ServerNodeTest, MakesItsOwnBlocksAndAcknowledgesEpochs) {
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

TEST_F(ServerNodeTest, APushGetsItsVerdictAndAPullItsAnswer) {
  SetUpTable("asp");
  const ConnectionId w0 = HelloWorker(0);
  EXPECT_TRUE(welcome.error().empty());
  Init(w0, 0, 1, {10, 20});
  EXPECT_THAT(Verdicts(w0), ElementsAre("1:0:initialized"));
  ASSERT_TRUE(Push(w0, 0, 0, {Entry(1, 1, 2)}, {1, 2}).ok());
  EXPECT_THAT(Verdicts(w0), ElementsAre("1:1:applied"));
  EXPECT_THAT(Values(1), ElementsAre(11, 22));
  ASSERT_TRUE(Pull(w0, 0, 0, {1}).ok());
  const auto answers = world.transport.TakeSent(w0, Kind::kAnswers);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_THAT(answers[0].floats(), ElementsAre(11, 22));
  const auto entry = DecodeAs<wire::Answers>(answers[0]).entries.at(0);
  EXPECT_EQ(entry.block, BlockId(1));
  EXPECT_EQ(entry.progress, Iteration(0));
  EXPECT_EQ(entry.version, Version(2));
}

TEST_F(ServerNodeTest, NothingIsCopiedOnTheWayInOrOut) {
  SetUpTable("asp");
  const ConnectionId w0 = HelloWorker(0);
  Init(w0, 0, 1, {10, 20});
  EXPECT_THAT(world.transport.landed_at, ElementsAre(node->FindBlock(BlockId(1))->values().data()));
  ASSERT_TRUE(Pull(w0, 0, -1, {1}).ok());
  const auto answers = world.transport.TakeSent(w0, Kind::kAnswers);
  EXPECT_THAT(answers.at(0).payload_at, ElementsAre(node->FindBlock(BlockId(1))->values().data()));
}

TEST_F(ServerNodeTest, SeveralBlocksOfAFrameLandApart) {
  SetUpTable("asp");
  const ConnectionId w0 = HelloWorker(0);
  Init(w0, 0, 1, {0, 0});
  Init(w0, 0, 3, {0, 0});
  ASSERT_TRUE(Push(w0, 0, 0, {Entry(1, 1, 2), Entry(3, 1, 2)}, {1, 2, 3, 4}).ok());
  EXPECT_THAT(Values(1), ElementsAre(1, 2));
  EXPECT_THAT(Values(3), ElementsAre(3, 4));
}

TEST_F(ServerNodeTest, VerdictsGoOutBeforeTheAnswersTheyLedTo) {
  SetUpTable("bsp");
  const ConnectionId w0 = HelloWorker(0);
  const ConnectionId w1 = HelloWorker(1);
  Init(w0, 0, 1, {0, 0});
  ASSERT_TRUE(Push(w0, 0, 0, {Entry(1, 1, 2)}, {1, 1}).ok());
  ASSERT_TRUE(Pull(w0, 0, 0, {1}).ok());
  ASSERT_TRUE(Pull(w1, 1, 0, {1}).ok());
  EXPECT_TRUE(world.transport.TakeSent(w0, Kind::kAnswers).empty()) << "worker 1 has not pushed";
  (void)world.transport.TakeSent(w1);
  ASSERT_TRUE(Push(w1, 1, 0, {Entry(1, 1, 2)}, {3, 3}).ok());
  const auto sent = world.transport.TakeSent(w1);
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].kind, Kind::kVerdicts);
  EXPECT_EQ(sent[1].kind, Kind::kAnswers);
  EXPECT_EQ(world.transport.TakeSent(w0, Kind::kAnswers).size(), 1U) << "the other one is released as well";
}

TEST_F(ServerNodeTest, ANaNIsRefusedAndHoldsNobody) {
  SetUpTable("bsp");
  const ConnectionId w0 = HelloWorker(0);
  const ConnectionId w1 = HelloWorker(1);
  Init(w0, 0, 1, {0, 0});
  (void)Verdicts(w0);
  ASSERT_TRUE(Push(w0, 0, 0, {Entry(1, 1, 2)}, {1, kNaN}).ok());
  EXPECT_THAT(Verdicts(w0), ElementsAre("1:1:refused"));
  ASSERT_TRUE(Push(w1, 1, 0, {Entry(1, 1, 2)}, {4, 6}).ok());
  EXPECT_THAT(Verdicts(w1), ElementsAre("1:1:summed"));
  ASSERT_TRUE(Pull(w0, 0, 0, {1}).ok());
  const auto answers = world.transport.TakeSent(w0, Kind::kAnswers);
  ASSERT_EQ(answers.size(), 1U);
  for (const float value : answers[0].floats()) EXPECT_TRUE(std::isfinite(value));
  EXPECT_EQ(node->counters().refused, 1U);
  EXPECT_EQ(node->counters().advances, 1U);
}

TEST_F(ServerNodeTest, AnAbsentPushCountsForTheIteration) {
  SetUpTable("bsp");
  const ConnectionId w0 = HelloWorker(0);
  const ConnectionId w1 = HelloWorker(1);
  Init(w0, 0, 1, {0, 0});
  ASSERT_TRUE(Push(w0, 0, 0, {Entry(1, 1, 2)}, {1, 1}).ok());
  wire::Absent absent{WorkerId(1),
                      Incarnation(1),
                      Iteration(0),
                      {{BlockId(1), Term(1), Seq(1)}, {BlockId(2), Term(1), Seq(1)}}};
  ASSERT_TRUE(world.transport.DeliverData(w1, Kind::kAbsent, absent).ok());
  EXPECT_THAT(Verdicts(w1), ElementsAre("1:1:absent", "2:1:moved"));
  EXPECT_EQ(node->FindBlock(BlockId(1))->v_train(), Iteration(1));
}

TEST_F(ServerNodeTest, AnEntryOfTheWrongSizeIsNamedAndItsSenderCutOff) {
  SetUpTable("asp");
  const ConnectionId w0 = HelloWorker(0);
  const ConnectionId w1 = HelloWorker(1);
  Init(w1, 1, 1, {0, 0});
  ASSERT_TRUE(Push(w0, 0, 0, {Entry(1, 1, 2), Entry(3, 1, 3)}, {1, 1, 2, 2, 2}).ok());
  EXPECT_EQ(GoodbyeTo(w0), "Push of block 3 from worker 0: got 12 bytes, wanted 8 (2 values)");
  EXPECT_FALSE(world.transport.IsOpen(w0));
  EXPECT_THAT(Values(1), ElementsAre(0, 0)) << "nothing of the frame was taken";
  ASSERT_TRUE(Push(w1, 1, 0, {Entry(1, 1, 2)}, {5, 5}).ok());
  EXPECT_THAT(Values(1), ElementsAre(5, 5)) << "the other goes on";
  const ConnectionId w2 = HelloWorker(0);
  ASSERT_TRUE(Push(w2, 0, 0, {Entry(1, 1, 0)}, {}).ok());
  EXPECT_THAT(GoodbyeTo(w2), HasSubstr("block 1 from worker 0: got 0 bytes, wanted 8"));
}

TEST_F(ServerNodeTest, ACodecThatDoesNotExistIsNamed) {
  SetUpTable("asp");
  const ConnectionId w0 = HelloWorker(0);
  wire::PushEntry entry = Entry(1, 1, 2);
  entry.codec = 3;
  (void)Push(w0, 0, 0, {entry}, {1, 1});
  EXPECT_FALSE(world.transport.IsOpen(w0));
  EXPECT_THAT(GoodbyeTo(w0), HasSubstr("codec"));
}

TEST_F(ServerNodeTest, AFrameInTheNameOfAnotherWorkerIsCutOff) {
  SetUpTable("asp");
  ConnectionId w0 = HelloWorker(0);
  ASSERT_TRUE(Push(w0, 1, 0, {Entry(1, 1, 2)}, {1, 1}).ok());
  EXPECT_EQ(GoodbyeTo(w0),
            "Push in the name of worker 1 incarnation 1 over the connection of worker 0 incarnation 1");
  w0 = HelloWorker(0);
  ASSERT_TRUE(Pull(w0, 1, 0, {1}).ok());
  EXPECT_THAT(GoodbyeTo(w0), HasSubstr("Pull in the name of worker 1"));
  EXPECT_EQ(node->counters().pulls, 0U);
}

TEST_F(ServerNodeTest, BlocksThatAreNotHereAreMovedAndTheRestOfTheFrameIsTaken) {
  SetUpTable("asp");
  const ConnectionId w0 = HelloWorker(0);
  Init(w0, 0, 1, {0, 0});
  (void)Verdicts(w0);
  ASSERT_TRUE(
      Push(w0, 0, 0, {Entry(0, 1, 2), Entry(1, 1, 2), Entry(77, 4, 5)}, {9, 9, 1, 2, 9, 9, 9, 9, 9}).ok());
  EXPECT_THAT(Verdicts(w0), ElementsAre("0:1:moved", "1:1:applied", "77:4:moved"));
  EXPECT_THAT(Values(1), ElementsAre(1, 2));
  ASSERT_TRUE(Pull(w0, 0, 0, {0}).ok());
  EXPECT_THAT(Verdicts(w0), ElementsAre("0:0:moved"));
  Init(w0, 0, 2, {1, 1});
  EXPECT_THAT(Verdicts(w0), ElementsAre("2:0:moved"));
}

TEST_F(ServerNodeTest, ABlockThatIsMadeWhileItsFrameIsUnderWayTakesIt) {
  SendRoster(1, 1);
  const ConnectionId w0 = HelloWorker(0);
  std::vector<std::byte> body;
  wire::Encode(wire::Init{WorkerId(0), Incarnation(1), {{BlockId(1), Term(1), Bytes(2)}}}, body);
  EXPECT_TRUE(world.transport.DeliverStart(w0, Kind::kInit, body, Bytes(2)).ok());
  SendMap(Map("asp", 2, 2));
  Init(w0, 0, 1, {4, 5});
  EXPECT_THAT(Values(1), ElementsAre(4, 5));
}

TEST_F(ServerNodeTest, AHalfReceivedPushLeavesNoTrace) {
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

TEST_F(ServerNodeTest, AReconnectReplacesTheSession) {
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

TEST_F(ServerNodeTest, AFencedLifeIsRefusedAndOneThatIsThereIsClosed) {
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

TEST_F(ServerNodeTest, AnOlderIncarnationIsFencedAndAStrangerIsLetIn) {
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

TEST_F(ServerNodeTest, AMemberThatDiesIsWaitedForNoMore) {
  SetUpTable("bsp");
  const ConnectionId w0 = HelloWorker(0);
  Init(w0, 0, 1, {0, 0});
  ASSERT_TRUE(Push(w0, 0, 0, {Entry(1, 1, 2)}, {1, 1}).ok());
  ASSERT_TRUE(Pull(w0, 0, 0, {1}).ok());
  EXPECT_TRUE(world.transport.TakeSent(w0, Kind::kAnswers).empty());
  SendRoster(3, 2, {}, {1});
  EXPECT_EQ(world.transport.TakeSent(w0, Kind::kAnswers).size(), 1U);
}

TEST_F(ServerNodeTest, AnswersBeyondAMebibyteGoInSeveralFrames) {
  SendRoster(1, 1);
  SendMap(Map("asp", 6, 150'000));
  const ConnectionId w0 = HelloWorker(0);
  for (const std::uint32_t block : {1U, 3U, 5U}) Init(w0, 0, block, std::vector<float>(150'000, 1.0F));
  ASSERT_TRUE(Pull(w0, 0, -1, {1, 3, 5}).ok());
  const auto answers = world.transport.TakeSent(w0, Kind::kAnswers);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(DecodeAs<wire::Answers>(answers[0]).entries.size(), 2U);
  EXPECT_EQ(DecodeAs<wire::Answers>(answers[1]).entries.size(), 1U);
}

TEST_F(ServerNodeTest, ReportsItsFiguresWithEveryBeat) {
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

TEST_F(ServerNodeTest, EndsWithTheJob) {
  const ConnectionId w0 = HelloWorker(0);
  wire::pb::JobEnd end;
  ASSERT_TRUE(world.transport.DeliverControl(scheduler, Kind::kJobEnd, end).ok());
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_TRUE(ended[0].ok());
  EXPECT_EQ(world.transport.TakeSent(scheduler, Kind::kGoodbye).size(), 1U);
  EXPECT_FALSE(world.transport.IsOpen(w0));
  EXPECT_EQ(world.timers.pending(), 0U);
}

TEST_F(ServerNodeTest, EndsWithTheReasonOfAJobThatFailed) {
  wire::pb::JobEnd end;
  end.set_code(static_cast<std::uint32_t>(StatusCode::kCancelled));
  end.set_message("interrupted");
  ASSERT_TRUE(world.transport.DeliverControl(scheduler, Kind::kJobEnd, end).ok());
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].ToString(), Cancelled("interrupted").ToString());
}

TEST_F(ServerNodeTest, EndsWhenTheSchedulerIsGoneForGood) {
  (void)world.transport.Lose(scheduler);
  world.Advance(seconds(29));
  EXPECT_TRUE(ended.empty());
  world.Advance(seconds(2));
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_THAT(ended[0].message(), HasSubstr("no answer from scheduler at sched:1 for 30.0 s"));
}

TEST_F(ServerNodeTest, APolicyThatIsUnknownHereEndsTheShardWhichSaysSo) {
  SendRoster(1, 1);
  SendMap(Map("mine:3", 2, 2));
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_THAT(ended[0].message(), HasSubstr("table \"w\": unknown sync model \"mine\""));
  EXPECT_THAT(GoodbyeTo(scheduler), HasSubstr("unknown sync model"));
}

TEST_F(ServerNodeTest, TakesWorkersOnly) {
  const ConnectionId id = world.transport.Accept();
  wire::pb::Hello said = hello;
  said.set_role(wire::pb::ROLE_SERVER);
  (void)world.transport.DeliverControl(id, Kind::kHello, said);
  EXPECT_THAT(ParseAs<wire::pb::Welcome>(world.transport.TakeSent(id).at(0)).error(),
              HasSubstr("takes workers only"));
}

TEST_F(ServerNodeTest, StopSaysGoodbyeAndIsNotReported) {
  node->Stop();
  EXPECT_EQ(world.transport.TakeSent(scheduler, Kind::kGoodbye).size(), 1U);
  EXPECT_EQ(world.timers.pending(), 0U);
  EXPECT_TRUE(ended.empty());
}

}  // namespace
}  // namespace leeway
