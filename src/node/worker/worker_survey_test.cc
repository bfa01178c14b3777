// The scheduler asks which workers a worker waits for.
#include <memory>

#include "node/worker/testing/worker_rig.h"

namespace leeway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WorkerSurveyTest : public WorkerRig {
 protected:
  void Ask(std::uint64_t round) {
    wire::pb::Why why;
    why.set_request(round);
    Control(scheduler, wire::Kind::kWhy, why);
  }
  template <typename Message>
  std::vector<Message> Sent(ConnectionId id, wire::Kind kind) {
    std::vector<Message> sent;
    for (const SentFrame& frame : env.transport.TakeSent(id, kind)) sent.push_back(ParseAs<Message>(frame));
    return sent;
  }
  std::vector<wire::pb::Why> Asked(std::size_t on) {
    return Sent<wire::pb::Why>(shard[on], wire::Kind::kWhy);
  }
  // The answer to the scheduler; there must be one.
  wire::pb::WhyReply Answered() {
    const auto sent = Sent<wire::pb::WhyReply>(scheduler, wire::Kind::kWhyReply);
    EXPECT_EQ(sent.size(), 1U);
    return sent.empty() ? wire::pb::WhyReply() : sent[0];
  }
  void ReplyOfShard(std::size_t on, std::uint64_t request) {
    wire::pb::WhyReply reply;
    reply.set_request(request);
    reply.set_known(true);
    reply.set_initialized(true);
    reply.set_delayed(true);
    reply.add_missing(0);
    Control(shard[on], wire::Kind::kWhyReply, reply);
  }
  // The worker has ended iteration 0 and waits for the values of w.
  void WaitForValues() {
    StartTables();
    ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
    ASSERT_TRUE(node->Clock().ok());
    node->Sync(w, {});
    env.transport.sent.clear();
  }
  void SettlePushes() {
    Verdict(0, 0, 1, wire::Verdict::kSummed);
    Verdict(1, 1, 1, wire::Verdict::kSummed);
    Verdict(0, 2, 1, wire::Verdict::kAbsent);
  }
};

TEST_F(WorkerSurveyTest, OneThatComputesSaysSoAtOnce) {
  StartTables();
  Ask(5);
  const wire::pb::WhyReply reply = Answered();
  EXPECT_EQ(reply.request(), 5U);
  EXPECT_FALSE(reply.waits());
  EXPECT_THAT(reply.open(), IsEmpty());
}

TEST_F(WorkerSurveyTest, ATableIsWaitedForUntilAllHavePushed) {
  WaitForValues();
  SettlePushes();
  Ask(5);
  const auto asked = Asked(0);
  ASSERT_EQ(asked.size(), 1U) << "one block is enough";
  EXPECT_EQ(asked[0].block(), 0U);
  EXPECT_THAT(Asked(1), IsEmpty());
  EXPECT_THAT(Sent<wire::pb::WhyReply>(scheduler, wire::Kind::kWhyReply), IsEmpty());
  ReplyOfShard(0, asked[0].request());
  const wire::pb::WhyReply reply = Answered();
  EXPECT_TRUE(reply.waits() && reply.settled());
  ASSERT_EQ(reply.open_size(), 1);
  EXPECT_EQ(reply.open(0).what(), "the values of table \"w\" for iteration 1");
  EXPECT_THAT(reply.open(0).missing(), ElementsAre(0U));
}

TEST_F(WorkerSurveyTest, APushWithoutAVerdictIsUnderWay) {
  WaitForValues();
  Ask(5);
  ReplyOfShard(0, Asked(0).at(0).request());
  EXPECT_FALSE(Answered().settled());
  SettlePushes();
  Ask(6);
  ReplyOfShard(0, Asked(0).at(0).request());
  EXPECT_TRUE(Answered().settled());
}

TEST_F(WorkerSurveyTest, AReadWithoutItsArraysIsUnderWay) {
  WaitForValues();
  SettlePushes();
  node->ReadArrays(u, ArraysWanted::kState, [](const Status&, const TableState&) {});
  Ask(5);
  ReplyOfShard(0, Asked(0).at(0).request());
  EXPECT_FALSE(Answered().settled()) << "the user may be in the read, which ends by itself";
  Deliver(0, wire::Kind::kArrays,
          wire::Arrays{WorkerId(kRank), Incarnation(1), 1, {{BlockId(2), Term(1), Version(1), 0, 0, 0, 0}}});
  Ask(6);
  ReplyOfShard(0, Asked(0).at(0).request());
  EXPECT_TRUE(Answered().settled());
}

TEST_F(WorkerSurveyTest, APushThatIsTooEarlyIsNotUnderWay) {
  WaitForValues();
  Verdict(0, 0, 1, wire::Verdict::kSummed);
  Verdict(1, 1, 1, wire::Verdict::kWindow);
  Verdict(0, 2, 1, wire::Verdict::kAbsent);
  Ask(5);
  const auto of_0 = Asked(0), of_1 = Asked(1);
  ASSERT_TRUE(of_0.size() == 1 && of_1.size() == 1) << "for the values, and for the push";
  ReplyOfShard(0, of_0[0].request());
  ReplyOfShard(1, of_1[0].request());
  const wire::pb::WhyReply reply = Answered();
  EXPECT_TRUE(reply.settled());
  EXPECT_EQ(reply.open_size(), 2);
}

TEST_F(WorkerSurveyTest, AUserOfWhomAnotherThreadMayComputeIsNeverSettled) {
  StartTables();
  several_threads = true;
  node->Barrier("epoch", {});
  Ask(5);
  const wire::pb::WhyReply reply = Answered();
  EXPECT_TRUE(reply.waits()) << "so it is not idle";
  EXPECT_FALSE(reply.settled()) << "so it rules out a standstill";
}

TEST_F(WorkerSurveyTest, ABarrierIsNamedAndTheSchedulerKnowsTheRest) {
  StartTables();
  node->Barrier("epoch", {});
  Ask(5);
  const wire::pb::WhyReply reply = Answered();
  EXPECT_TRUE(reply.waits());
  ASSERT_EQ(reply.open_size(), 1);
  EXPECT_TRUE(reply.open(0).at_barrier());
  EXPECT_EQ(reply.open(0).barrier(), "epoch");
}

TEST_F(WorkerSurveyTest, AShardThatDoesNotAnswerIsNotWaitedFor) {
  WaitForValues();
  Ask(5);
  env.Advance(std::chrono::milliseconds(1100));
  const wire::pb::WhyReply reply = Answered();
  ASSERT_EQ(reply.open_size(), 1);
  EXPECT_THAT(reply.open(0).missing(), IsEmpty());
}

TEST_F(WorkerSurveyTest, AWaitThatEndsMeanwhileIsSaidToHaveEnded) {
  WaitForValues();
  SettlePushes();
  Ask(5);
  const auto asked = Asked(0);
  Answer(0, 0, 0, 2, {2, 2});
  Answer(1, 1, 0, 2, {2, 2});
  ReplyOfShard(0, asked.at(0).request());
  EXPECT_FALSE(Answered().waits());
}

TEST_F(WorkerSurveyTest, ReportsCountCallsAndSayWhetherOneWaits) {
  StartTables();
  const auto report = [&] {
    env.transport.sent.clear();
    env.Advance(std::chrono::milliseconds(1100));
    return Sent<wire::pb::Report>(scheduler, wire::Kind::kReport).at(0);
  };
  const wire::pb::Report computes = report();
  EXPECT_FALSE(computes.waits());
  EXPECT_EQ(report().acts(), computes.acts()) << "it makes no call";
  node->ReadArrays(w, ArraysWanted::kState, [](const Status&, const TableState&) {});
  EXPECT_GT(report().acts(), computes.acts()) << "a rank that saves reads";
  node->Assign(u, {}, Lend(std::span(gradient).first(2)), {});
  EXPECT_GT(report().acts(), computes.acts() + 1) << "a rank that loads sets";
  node->Barrier("epoch", {});
  const wire::pb::Report waits = report();
  EXPECT_TRUE(waits.waits());
  EXPECT_GT(waits.acts(), computes.acts());
}

TEST_F(WorkerSurveyTest, AWorkerThatWaitsForManyTablesNamesAFew) {
  JoinJob();
  constexpr std::uint32_t kTables = 300;
  std::vector<std::unique_ptr<ParameterPair>> pairs;
  std::vector<TableId> tables;
  wire::pb::TableMap map;
  map.set_request(1);
  for (std::uint32_t i = 0; i < kTables; ++i) {
    pairs.push_back(std::make_unique<ParameterPair>(2, nullptr, nullptr));
    const std::string name = "t" + std::to_string(i);
    tables.push_back(
        *node->CreateTable({.name = name, .shape = {2}, .clock = TableClock::kOwn}, *pairs.back()));
    wire::pb::Table* table = map.add_tables();
    table->set_name(name);
    wire::pb::Block* block = table->add_blocks();
    block->set_block(i);
    block->set_term(1);
    block->set_since(1);
    block->set_elements(2);
  }
  node->Start(Into(started));
  Control(scheduler, wire::Kind::kTableMap, map);
  ASSERT_TRUE(started.has_value() && started->ok());
  std::vector<float> values(2);
  for (const TableId table : tables) ASSERT_TRUE(node->Pull(table, values, {}).ok());
  node->Barrier("epoch", {});
  Ask(5);
  env.Advance(std::chrono::milliseconds(1100));
  EXPECT_EQ(Answered().open_size(), 65) << "the scheduler takes 256 at the most";
  node.reset();
}

}  // namespace
}  // namespace leeway::testing
