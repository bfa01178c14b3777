// The worker node's pushes, hand-fed: what goes out in which order, and what each verdict does.
#include <algorithm>
#include <limits>
#include <set>

#include "node/worker/testing/worker_rig.h"

namespace leeway::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class WorkerPushTest : public WorkerRig {};

TEST_F(WorkerPushTest, AGradientGoesToEachShardBeforeThePullOfItsBlock) {
  StartTables();
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  EXPECT_THAT(Sent(0), ElementsAre("Push 0:1", "Pull 0@0"));
  EXPECT_THAT(Sent(1), ElementsAre("Push 1:1", "Pull 1@0"));
}

TEST_F(WorkerPushTest, BlocksOfAShardLeaveInPartsOfFlushBytes) {
  job.set_flush_bytes(1);  // OneClockFrameListsAllAbsentBlocksOfAShard has the default
  StartTables();
  ASSERT_TRUE(node->Clock().ok());
  EXPECT_THAT(Sent(0), ElementsAre("Absent 0:1", "Pull 0@0", "Absent 2:1", "Pull 2@0"));
}

TEST_F(WorkerPushTest, PushesCarryTheLentBytesAndTheVersionInUse) {
  StartTables();
  ASSERT_TRUE(node->Push(w, {gradient, nullptr, {.lr = 0.5F}, 32}, {}).ok());
  const std::vector<SentFrame> sent = env.transport.TakeSent(shard[1], wire::Kind::kPush);
  ASSERT_EQ(sent.size(), 1U);
  const auto push = DecodeAs<wire::Push>(sent[0]);
  EXPECT_EQ(push.worker, WorkerId(kRank));
  EXPECT_EQ(push.samples, 32U);
  EXPECT_EQ(push.hyper.lr, 0.5F);
  EXPECT_EQ(push.entries[0].base_version, Version(1));
  EXPECT_THAT(sent[0].floats(), ElementsAre(0.3F, 0.4F));
  EXPECT_THAT(sent[0].payload_at, ElementsAre(static_cast<const void*>(&gradient[2]))) << "not a copy";
}

TEST_F(WorkerPushTest, EndIterationMarksAbsentWhatHasNoGradientAndPullsIt) {
  StartTables();
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  (void)Sent(0);
  (void)Sent(1);
  ASSERT_TRUE(node->Clock().ok());
  EXPECT_THAT(Sent(0), ElementsAre("Absent 2:1", "Pull 2@0")) << "the own-clock table is in no CLOCK frame";
  EXPECT_THAT(Sent(1), IsEmpty());
  EXPECT_EQ(node->iteration(), Iteration(1));
}

TEST_F(WorkerPushTest, OneClockFrameListsAllAbsentBlocksOfAShard) {
  StartTables();
  ASSERT_TRUE(node->Clock().ok());
  EXPECT_THAT(Sent(0), ElementsAre("Absent 0:1,2:1", "Pull 0@0,2@0"));
}

TEST_F(WorkerPushTest, ATableTakesOneGradientPerIteration) {
  StartTables();
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  EXPECT_EQ(node->Push(w, Lend(gradient), {}).code(), StatusCode::kFailedPrecondition);
  ASSERT_TRUE(node->Clock().ok());
  EXPECT_TRUE(node->Push(w, Lend(gradient), {}).ok());
}

TEST_F(WorkerPushTest, AWrongSizeNamesTheTableAndBothSizes) {
  StartTables();
  const Status status = node->Push(w, Lend(std::span(gradient).first(3)), {});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("\"w\": got a gradient of 3 values, wanted 4"));
}

TEST_F(WorkerPushTest, DoneComesWithTheLastVerdictAndRepeatedOnesAreIgnored) {
  StartTables();
  std::optional<Status> done;
  int observed = 0;
  node->SetVerdictObserver([&](TableId, BlockId, Seq, Iteration, wire::Verdict, Iteration) { ++observed; });
  ASSERT_TRUE(node->Push(w, Lend(gradient), Into(done)).ok());
  Verdict(0, 0, 1, wire::Verdict::kSummed);
  Verdict(0, 0, 1, wire::Verdict::kSummed);
  EXPECT_FALSE(done.has_value());
  Verdict(1, 1, 1, wire::Verdict::kApplied);
  ASSERT_TRUE(done.has_value());
  EXPECT_TRUE(done->ok());
  Verdict(1, 1, 1, wire::Verdict::kApplied);
  EXPECT_EQ(observed, 2);
  EXPECT_EQ(node->counters().pushes, 2U);
  EXPECT_EQ(node->counters().summed, 1U);
  EXPECT_EQ(node->counters().applied, 1U);
}

TEST_F(WorkerPushTest, ARefusedBlockIsAnErrorForTheGradientAndTrainingGoesOn) {
  StartTables();
  std::optional<Status> done;
  ASSERT_TRUE(node->Push(w, Lend(gradient), Into(done)).ok());
  Verdict(0, 0, 1, wire::Verdict::kRefused);
  Verdict(1, 1, 1, wire::Verdict::kSummed);
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(done->message(), HasSubstr("table \"w\": 1 of 2 blocks"));
  EXPECT_EQ(node->counters().refused, 1U);
  EXPECT_FALSE(failed.has_value());
  EXPECT_TRUE(node->Clock().ok());
}

TEST_F(WorkerPushTest, AReconnectResendsInOrderWithTheSameBytesThenThePull) {
  StartTables();
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  ASSERT_TRUE(node->Clock().ok());
  ASSERT_TRUE(node->Clock().ok());  // w is absent in iteration 1
  (void)Sent(0);
  Reconnect(0);
  const std::vector<SentFrame> frames = env.transport.TakeSent(shard[0]);
  std::vector<std::string> lines;
  for (const SentFrame& frame : frames) lines.push_back(Describe(frame));
  EXPECT_THAT(lines, ElementsAre("Hello", "Push 0:1", "Absent 2:1", "Absent 0:2,2:2", "Pull 0@1,2@1"));
  EXPECT_THAT(frames[1].payload_at, ElementsAre(static_cast<const void*>(gradient.data())));
  EXPECT_EQ(node->counters().resent, 4U);
  EXPECT_EQ(node->counters().reconnects, 1U);
  EXPECT_THAT(node->counters().connected_over, ElementsAre(Pair("tcp", 3U)))
      << "two shards, one of them twice";
  EXPECT_THAT(Sent(1), IsEmpty()) << "the other shard is not disturbed";
}

TEST_F(WorkerPushTest, WhatHasItsVerdictIsNotSentAgain) {
  StartTables();
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  Verdict(0, 0, 1, wire::Verdict::kSummed);
  Reconnect(0);
  EXPECT_THAT(Sent(0), ElementsAre("Hello", "Pull 0@0"));
}

TEST_F(WorkerPushTest, AtMostFourPushesOfABlockFlyAndThePullWaitsForThem) {
  StartTables();
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(node->Push(u, Lend(std::span(gradient).first(2)), {}).ok());
    ASSERT_TRUE(node->Clock().ok());
  }
  std::vector<std::string> mine;
  for (const std::string& line : Sent(0)) {
    if (line.find(" 2") != std::string::npos) mine.push_back(line);
  }
  EXPECT_THAT(mine, ElementsAre("Push 2:1", "Pull 2@0", "Push 2:2", "Pull 2@1", "Push 2:3", "Pull 2@2",
                                "Push 2:4", "Pull 2@3"));
  Verdict(0, 2, 1, wire::Verdict::kApplied);
  EXPECT_THAT(Sent(0), ElementsAre("Push 2:5")) << "the pull for iteration 5 must not overtake push 6";
  Verdict(0, 2, 2, wire::Verdict::kApplied);
  EXPECT_THAT(Sent(0), ElementsAre("Push 2:6", "Pull 2@5"));
}

TEST_F(WorkerPushTest, AGapIsFilled) {
  StartTables();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(node->Push(u, Lend(std::span(gradient).first(2)), {}).ok());
    ASSERT_TRUE(node->Clock().ok());
  }
  (void)Sent(0);
  Verdict(0, 2, 0, wire::Verdict::kGap);
  EXPECT_THAT(Sent(0), ElementsAre("Push 2:1", "Push 2:2"));
}

TEST_F(WorkerPushTest, AWindowHoldsAPushBackUntilOpen) {
  StartTables();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(node->Push(u, Lend(std::span(gradient).first(2)), {}).ok());
    ASSERT_TRUE(node->Clock().ok());
  }
  (void)Sent(0);
  Verdict(0, 2, 1, wire::Verdict::kSummed);
  Verdict(0, 2, 2, wire::Verdict::kWindow);
  EXPECT_THAT(Sent(0), IsEmpty());
  for (const auto& [on, block] : {std::pair(0, 0U), {1, 1U}}) {
    for (const std::uint64_t seq : {1, 2})
      Verdict(static_cast<std::size_t>(on), block, seq, wire::Verdict::kAbsent);
  }
  EXPECT_THAT(node->WaitingFor(), HasSubstr("held back"));
  Verdict(0, 2, 2, wire::Verdict::kOpen);
  EXPECT_THAT(Sent(0), ElementsAre("Push 2:2"));
}

TEST_F(WorkerPushTest, AMovedBlockIsLookedUpAndSentToItsNewPlace) {
  StartTables();
  ASSERT_TRUE(node->Push(u, Lend(std::span(gradient).first(2)), {}).ok());
  Verdict(0, 2, 1, wire::Verdict::kMoved);
  env.transport.sent.clear();
  env.Advance(std::chrono::milliseconds(30));
  const std::vector<SentFrame> asked = env.transport.TakeSent(scheduler, wire::Kind::kDefineTables);
  ASSERT_EQ(asked.size(), 1U);
  const auto request = ParseAs<wire::pb::DefineTables>(asked[0]);
  ASSERT_EQ(request.tables_size(), 1);
  EXPECT_EQ(request.tables(0).name(), "u");
  ASSERT_EQ(request.seen_size(), 1) << "it has read values there";
  EXPECT_EQ(request.seen(0).block(), 2U);
  EXPECT_EQ(request.seen(0).term(), 1U);
  wire::pb::TableMap map;
  map.set_request(request.request());
  *map.add_tables() = Map(0).tables(1);
  map.mutable_tables(0)->mutable_blocks(0)->set_shard(1);
  map.mutable_tables(0)->mutable_blocks(0)->set_term(2);
  map.mutable_tables(0)->mutable_blocks(0)->set_since(2);
  Control(scheduler, wire::Kind::kTableMap, map);
  // First it asks what the new owner has.
  const std::vector<SentFrame> where = env.transport.TakeSent(shard[1], wire::Kind::kResume);
  ASSERT_EQ(where.size(), 1U);
  EXPECT_EQ(DecodeAs<wire::Resume>(where[0]).entries[0].term, Term(2));
  EXPECT_EQ(DecodeAs<wire::Resume>(where[0]).entries[0].next, Iteration(0));
  EXPECT_THAT(Sent(0), IsEmpty());
  EXPECT_THAT(Sent(1), IsEmpty());
  Resumed(1, 2, 0, 1);
  EXPECT_TRUE(env.transport.TakeSent(shard[1], wire::Kind::kPush).empty()) << "said under the term before";
  Resumed(1, 2, 0, 2);
  const std::vector<SentFrame> moved = env.transport.TakeSent(shard[1], wire::Kind::kPush);
  ASSERT_EQ(moved.size(), 1U);
  EXPECT_EQ(DecodeAs<wire::Push>(moved[0]).entries[0].term, Term(2));
  EXPECT_EQ(DecodeAs<wire::Push>(moved[0]).entries[0].seq, Seq(1));
  EXPECT_EQ(node->counters().lost, 0U);
}

TEST_F(WorkerPushTest, ABlockThatMovesWhileTheMapIsOnItsWayIsLookedUpNext) {
  StartTables();
  ASSERT_TRUE(node->Push(u, Lend(std::span(gradient).first(2)), {}).ok());
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  Verdict(0, 2, 1, wire::Verdict::kMoved);
  env.transport.sent.clear();
  env.Advance(std::chrono::milliseconds(30));
  const std::vector<SentFrame> asked = env.transport.TakeSent(scheduler, wire::Kind::kDefineTables);
  ASSERT_EQ(asked.size(), 1U);
  Verdict(0, 0, 1, wire::Verdict::kMoved);  // of "w", which the request under way does not name
  wire::pb::TableMap map;
  map.set_request(ParseAs<wire::pb::DefineTables>(asked[0]).request());
  *map.add_tables() = Map(0).tables(1);
  Control(scheduler, wire::Kind::kTableMap, map);
  env.transport.sent.clear();
  env.Advance(std::chrono::milliseconds(200));
  const std::vector<SentFrame> again = env.transport.TakeSent(scheduler, wire::Kind::kDefineTables);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(ParseAs<wire::pb::DefineTables>(again[0]).tables(0).name(), "w");
}

TEST_F(WorkerPushTest, ALearningRateThatIsNoNumberIsRefusedBeforeAnythingIsSent) {
  StartTables();
  env.transport.sent.clear();
  LentGradient lent = Lend(gradient);
  lent.hyper.lr = std::numeric_limits<float>::quiet_NaN();
  const Status status = node->Push(w, std::move(lent), {});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("\"w\""), HasSubstr("lr is nan")));
  EXPECT_THAT(env.transport.sent, IsEmpty());
  EXPECT_TRUE(node->Push(w, Lend(gradient), {}).ok());
}

TEST_F(WorkerPushTest, RefusedInitialValuesAreAnErrorForTheirOwner) {
  StartTables();
  std::optional<Status> done;
  node->Broadcast(w, gradient, nullptr, Into(done));
  Verdict(0, 0, 0, wire::Verdict::kRefused);
  EXPECT_FALSE(done.has_value());
  Verdict(1, 1, 0, wire::Verdict::kInitialized);
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(done->message(), HasSubstr("1 of 2 blocks"));
}

TEST_F(WorkerPushTest, AFencedWorkerFailsEverythingOnce) {
  StartTables();
  std::optional<Status> done, usable;
  ASSERT_TRUE(node->Push(w, Lend(gradient), Into(done)).ok());
  ASSERT_TRUE(node->Clock().ok());
  node->Sync(w, Into(usable));
  Verdict(0, 0, 1, wire::Verdict::kFenced);
  ASSERT_TRUE(done && usable && failed);
  for (const Status& status : {*done, *usable, *failed}) EXPECT_EQ(status.code(), StatusCode::kFenced);
  EXPECT_EQ(node->Push(u, Lend(std::span(gradient).first(2)), {}).code(), StatusCode::kFenced);
  EXPECT_EQ(env.transport.open(), 0U);
}

TEST_F(WorkerPushTest, AVerdictThatSkipsAPushEndsTheWorkerNotTheProcess) {
  StartTables();
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  Verdict(0, 0, 7, wire::Verdict::kSummed);
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->code(), StatusCode::kProtocol);
  EXPECT_THAT(failed->message(), HasSubstr("server 0 shard 0"));
}

TEST_F(WorkerPushTest, PushesOfAnOwnClockTableAreItsIterations) {
  StartTables();
  const std::vector<float> one(2, 1.0F);
  std::vector<float> got(2);
  std::optional<Status> pulled;
  ASSERT_TRUE(node->Push(c, Lend(one), {}).ok());
  ASSERT_TRUE(node->Push(c, Lend(one), {}).ok());
  ASSERT_TRUE(node->Pull(c, got, Into(pulled)).ok());
  EXPECT_THAT(Sent(1), ElementsAre("Push 3:1", "Push 3:2", "Pull 3@1"));
  Answer(1, 3, 1, 3, {2, 2});
  ASSERT_TRUE(pulled.has_value() && pulled->ok());
  EXPECT_THAT(got, ElementsAre(2, 2));
  EXPECT_EQ(node->Pull(u, got, {}).code(), StatusCode::kFailedPrecondition);
}

TEST_F(WorkerPushTest, PullsIntoMemoryAreAnsweredOneAfterTheOther) {
  StartTables();
  std::vector<float> first(2), second(2);
  std::optional<Status> first_done, second_done;
  ASSERT_TRUE(node->Pull(c, first, Into(first_done)).ok());
  ASSERT_TRUE(node->Pull(c, second, Into(second_done)).ok());
  EXPECT_THAT(Sent(1), ElementsAre("Pull 3@-1"));
  Answer(1, 3, -1, 1, {5, 5});
  EXPECT_THAT(first, ElementsAre(5, 5));
  EXPECT_THAT(second, ElementsAre(0, 0));
  EXPECT_TRUE(first_done.has_value());
  EXPECT_FALSE(second_done.has_value());
  EXPECT_THAT(Sent(1), ElementsAre("Pull 3@-1"));
  Answer(1, 3, -1, 1, {6, 6});
  EXPECT_THAT(second, ElementsAre(6, 6));
  EXPECT_TRUE(second_done.has_value());
}

TEST_F(WorkerPushTest, CallsMadeTogetherLeaveInTheFewestFrames) {
  StartTables();
  node->BeginCalls();
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  ASSERT_TRUE(node->Push(u, Lend(std::span(gradient).first(2)), {}).ok());
  EXPECT_THAT(Sent(0), IsEmpty());
  node->EndCalls();
  EXPECT_THAT(Sent(0), ElementsAre("Push 0:1,2:1", "Pull 0@0,2@0"));
  EXPECT_THAT(Sent(1), ElementsAre("Push 1:1", "Pull 1@0"));
  ASSERT_TRUE(node->Clock().ok());
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  EXPECT_THAT(Sent(0), ElementsAre("Push 0:2", "Pull 0@1")) << "a call by itself leaves at once";
}

TEST_F(WorkerPushTest, GradientsWithDifferentHeadsDoNotShareAFrame) {
  StartTables();
  node->BeginCalls();
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  ASSERT_TRUE(node->Push(u, {std::span(gradient).first(2), nullptr, {.lr = 0.5F}, 1}, {}).ok());
  node->EndCalls();
  EXPECT_THAT(Sent(0), ElementsAre("Push 0:1", "Push 2:1", "Pull 0@0,2@0"));
}

TEST_F(WorkerPushTest, GradientsOfDifferentSamplesDoNotShareAFrame) {
  StartTables();
  node->BeginCalls();
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  LentGradient other = Lend(std::span(gradient).first(2));
  other.samples = 7;
  ASSERT_TRUE(node->Push(u, std::move(other), {}).ok());
  node->EndCalls();
  EXPECT_THAT(Sent(0), ElementsAre("Push 0:1", "Push 2:1", "Pull 0@0,2@0"));
}

// Both are sent again after a reconnect, in whose time one has its next gradient: each under its own
// iteration.
TEST_F(WorkerPushTest, GradientsOfDifferentIterationsDoNotShareAFrame) {
  StartTables();
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  ASSERT_TRUE(node->Clock().ok());
  (void)Sent(0);
  node->BeginCalls();
  ASSERT_TRUE(node->Push(u, Lend(std::span(gradient).first(2)), {}).ok());
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  node->EndCalls();
  EXPECT_THAT(Sent(0), ElementsAre("Push 2:2,0:2", "Pull 2@1,0@1")) << "of one iteration they do";
}

class WorkerCreditTest : public WorkerRig {
 protected:
  WorkerCreditTest() : WorkerRig(12) {}  // one block of 8 bytes, not two
};

TEST_F(WorkerCreditTest, PushesBeyondTheCreditWaitForVerdictsAndTheirPullsWithThem) {
  StartTables();
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  ASSERT_TRUE(node->Push(u, Lend(std::span(gradient).first(2)), {}).ok());
  EXPECT_THAT(Sent(0), ElementsAre("Push 0:1", "Pull 0@0"));
  Verdict(0, 0, 1, wire::Verdict::kSummed);
  EXPECT_THAT(Sent(0), ElementsAre("Push 2:1", "Pull 2@0"));
}

}  // namespace
}  // namespace leeway::testing
