// Frames of workers at a shard: what they lead to, and what breaks the protocol.
#include "node/server/server_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <vector>

#include "node/server/testing/hand_fed_server.h"

namespace leeway {
namespace {

using testing::DecodeAs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using wire::Kind;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

using ServerNodeTest = testing::HandFedServer;

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
  EXPECT_EQ(entry.ask, Ask(1));
  EXPECT_EQ(entry.version, Version(2));
}

TEST_F(ServerNodeTest, AWorkerThatWantsTheNewestOnlyGetsItsAnswers) {
  SetUpTable("asp");
  const ConnectionId w0 = HelloWorker(0);
  Init(w0, 0, 1, {10, 20});
  Init(w0, 0, 3, {30, 40});
  wire::Pull pull{WorkerId(0), Incarnation(1), Epoch(0), wire::Pull::kNewestOnly, {}};
  for (const std::uint32_t block : {1U, 3U})
    pull.entries.push_back({BlockId(block), Term(1), Iteration(0), Version(0), 1.0F, Ask(1)});
  ASSERT_TRUE(world.transport.DeliverData(w0, Kind::kPull, pull).ok());
  const auto answers = world.transport.TakeSent(w0, Kind::kAnswers);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_THAT(answers[0].floats(), ElementsAre(10, 20, 30, 40));
  for (wire::PullEntry& entry : pull.entries) entry.cached_version = Version(1);
  ASSERT_TRUE(world.transport.DeliverData(w0, Kind::kPull, pull).ok());
  EXPECT_EQ(world.transport.TakeSent(w0, Kind::kAnswers).size(), 1U) << "both unchanged";
  EXPECT_EQ(node->answers_withdrawn(), 0U) << "all had left";
}

TEST_F(ServerNodeTest, AnswersLeaveByTheirPrioritiesWhereTheWorkerSaysSo) {
  SetUpTable("asp");
  const ConnectionId w0 = HelloWorker(0);
  Init(w0, 0, 1, {10, 20});
  Init(w0, 0, 3, {30, 40});
  const auto verdicts = world.transport.TakeSent(w0, Kind::kVerdicts);
  ASSERT_EQ(verdicts.size(), 2U);
  EXPECT_EQ(verdicts[0].order, FrameOrder::Kind::kVerdicts);
  EXPECT_THAT(verdicts[0].blocks, ElementsAre(BlockId(1)));
  wire::Pull pull{WorkerId(0), Incarnation(1), Epoch(0), 0, {}};
  pull.entries.push_back({BlockId(1), Term(1), Iteration(0), Version(0), 1.0F, Ask(1), 9});
  pull.entries.push_back({BlockId(3), Term(1), Iteration(0), Version(0), 1.0F, Ask(1), 2});
  ASSERT_TRUE(world.transport.DeliverData(w0, Kind::kPull, pull).ok());
  auto answers = world.transport.TakeSent(w0, Kind::kAnswers);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].order, FrameOrder::Kind::kInOrder);
  EXPECT_THAT(answers[0].floats(), ElementsAre(10, 20, 30, 40));
  pull.flags = wire::Pull::kByPriority;
  ASSERT_TRUE(world.transport.DeliverData(w0, Kind::kPull, pull).ok());
  answers = world.transport.TakeSent(w0, Kind::kAnswers);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].order, FrameOrder::Kind::kByPriority);
  EXPECT_EQ(answers[0].priority, 2);
  EXPECT_THAT(answers[0].blocks, ElementsAre(BlockId(3), BlockId(1)));
  EXPECT_THAT(answers[0].floats(), ElementsAre(30, 40, 10, 20)) << "the more urgent one comes first";
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

TEST_F(ServerNodeTest, ThePagesOfNewBlocksAreMadeAheadTheLastFirstAndTheirValuesLandThere) {
  world.arena.prepares = true;
  SetUpTable("asp");
  ASSERT_EQ(world.arena.asked.size(), 2U) << "blocks 1 and 3";
  const ConnectionId w0 = HelloWorker(0);
  Init(w0, 0, 1, {10, 20});  // before the other thread has come to it
  world.compute.RunAll();
  EXPECT_EQ(world.arena.made, 2);
  Init(w0, 0, 3, {30, 40});
  EXPECT_EQ(node->FindBlock(BlockId(1))->values().data(), world.arena.asked[1]);
  EXPECT_EQ(node->FindBlock(BlockId(3))->values().data(), world.arena.asked[0]);
  EXPECT_THAT(Values(1), ElementsAre(10, 20));
}

TEST_F(ServerNodeTest, SaysWhomABlockWaitsFor) {
  SetUpTable("bsp");
  const ConnectionId w0 = HelloWorker(0);
  const auto ask = [&](std::uint32_t block) {
    wire::pb::Why why;
    why.set_request(7);
    why.set_block(block);
    EXPECT_TRUE(world.transport.DeliverControl(w0, Kind::kWhy, why).ok());
    return testing::ParseAs<wire::pb::WhyReply>(world.transport.TakeSent(w0, Kind::kWhyReply).at(0));
  };
  EXPECT_FALSE(ask(1).initialized());
  Init(w0, 0, 1, {0, 0});
  ASSERT_TRUE(Push(w0, 0, 0, {Entry(1, 1, 2)}, {1, 1}).ok());
  const wire::pb::WhyReply why = ask(1);
  EXPECT_EQ(why.request(), 7U);
  EXPECT_TRUE(why.known() && why.initialized());
  EXPECT_EQ(why.v_train(), 0);
  EXPECT_THAT(why.missing(), ElementsAre(1U));
  EXPECT_FALSE(why.delayed() || why.timed());
  ASSERT_TRUE(Pull(w0, 0, 0, {1}).ok());
  EXPECT_TRUE(ask(1).delayed()) << "its pull waits there";
  EXPECT_FALSE(ask(2).known()) << "block 2 is on another shard";
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

TEST_F(ServerNodeTest, AFormatThatDoesNotExistIsNamed) {
  SetUpTable("asp");
  const ConnectionId w0 = HelloWorker(0);
  wire::PushEntry entry = Entry(1, 1, 2);
  entry.format = wire::Format{3};
  (void)Push(w0, 0, 0, {entry}, {1, 1});
  EXPECT_FALSE(world.transport.IsOpen(w0));
  EXPECT_THAT(GoodbyeTo(w0), HasSubstr("format: got 3, wanted 1 (float32)"));
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

TEST_F(ServerNodeTest, ABlockThatIsMadeWhileItsFrameIsUnderWayTakesTheNextOne) {
  SendRoster(1, 1);
  const ConnectionId w0 = HelloWorker(0);
  std::vector<std::byte> body;
  wire::Encode(wire::Init{WorkerId(0), Incarnation(1), {{BlockId(1), Term(1), Bytes(2)}}}, body);
  Result<Landing> landing = world.transport.DeliverStart(w0, Kind::kInit, body, Bytes(2));
  ASSERT_TRUE(landing.ok());
  SendMap(Map("asp", 2, 2));
  const std::vector<float> values{4, 5};
  world.transport.DeliverRest(w0, Kind::kInit, body, *std::move(landing), std::as_bytes(std::span(values)));
  EXPECT_THAT(Verdicts(w0), ElementsAre("1:0:moved"))
      << "bytes for an unknown block are not kept: it asks again";
  Init(w0, 0, 1, values);
  EXPECT_THAT(Verdicts(w0), ElementsAre("1:0:initialized"));
  EXPECT_THAT(Values(1), ElementsAre(4, 5));
}

TEST_F(ServerNodeTest, ABlockOfAnotherSizeThatIsMadeWhileItsFrameIsUnderWayDoesNotTakeIt) {
  SendRoster(1, 1);
  const ConnectionId w0 = HelloWorker(0);
  std::vector<std::byte> body;
  wire::Encode(wire::Init{WorkerId(0), Incarnation(1), {{BlockId(1), Term(1), Bytes(2)}}}, body);
  Result<Landing> landing = world.transport.DeliverStart(w0, Kind::kInit, body, Bytes(2));
  ASSERT_TRUE(landing.ok());
  SendMap(Map("asp", 2, 3));
  const std::vector<float> values{4, 5};
  world.transport.DeliverRest(w0, Kind::kInit, body, *std::move(landing), std::as_bytes(std::span(values)));
  EXPECT_THAT(Verdicts(w0), ElementsAre("1:0:moved"));
  EXPECT_FALSE(node->FindBlock(BlockId(1))->initialized());
}

TEST_F(ServerNodeTest, AnswersBeyondAMebibyteGoInSeveralFrames) {
  SendRoster(1, 1);
  SendMap(Map("asp", 6, 110'000));
  const ConnectionId w0 = HelloWorker(0);
  for (const std::uint32_t block : {1U, 3U, 5U}) Init(w0, 0, block, std::vector<float>(110'000, 1.0F));
  ASSERT_TRUE(Pull(w0, 0, -1, {1, 3, 5}).ok());
  const auto answers = world.transport.TakeSent(w0, Kind::kAnswers);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(DecodeAs<wire::Answers>(answers[0]).entries.size(), 2U);
  EXPECT_EQ(DecodeAs<wire::Answers>(answers[1]).entries.size(), 1U);
}

TEST_F(ServerNodeTest, AFrameOfAnswersIsNoLargerThanAMebibyteOrOneBlock) {
  SendRoster(1, 1);
  SendMap(Map("asp", 6, 300'000));
  const ConnectionId w0 = HelloWorker(0);
  for (const std::uint32_t block : {1U, 3U, 5U}) Init(w0, 0, block, std::vector<float>(300'000, 1.0F));
  ASSERT_TRUE(Pull(w0, 0, -1, {1, 3, 5}).ok());
  const auto answers = world.transport.TakeSent(w0, Kind::kAnswers);
  ASSERT_EQ(answers.size(), 3U);
  for (const auto& frame : answers) EXPECT_EQ(frame.payload.size(), 300'000U * sizeof(float));
}

TEST_F(ServerNodeTest, WhatOneEventLeadsToIsOneFramePerWorker) {
  SetUpTable("bsp", 3);
  std::vector<ConnectionId> workers;
  for (std::uint32_t rank = 0; rank < 3; ++rank) workers.push_back(HelloWorker(rank));
  for (const std::uint32_t block : {1U, 3U}) Init(workers[0], 0, block, {0, 0});
  for (std::int64_t iteration = 0; iteration < 2; ++iteration) {
    const auto seq = static_cast<std::uint64_t>(iteration) + 1;
    for (const std::uint32_t rank : {0U, 1U}) {
      ASSERT_TRUE(
          Push(workers[rank], rank, iteration, {Entry(1, seq, 2), Entry(3, seq, 2)}, {1, 1, 1, 1}).ok());
      ASSERT_TRUE(Pull(workers[rank], rank, iteration, {1, 3}).ok());
    }
    // The last push ends the iteration in both blocks, which answer the two in turn.
    ASSERT_TRUE(Push(workers[2], 2, iteration, {Entry(1, seq, 2), Entry(3, seq, 2)}, {1, 1, 1, 1}).ok());
    for (const std::uint32_t rank : {0U, 1U}) {
      const auto answers = world.transport.TakeSent(workers[rank], Kind::kAnswers);
      ASSERT_EQ(answers.size(), 1U);
      EXPECT_EQ(DecodeAs<wire::Answers>(answers[0]).entries.size(), 2U);
    }
  }
}

}  // namespace
}  // namespace leeway
