// Models have a worker act by itself, hand-fed: skip ahead, hold an iteration back, use the values it holds.
#include "node/worker/testing/worker_rig.h"

namespace leeway::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WorkerRulesTest : public WorkerRig {
 protected:
  void Start(const char* with) {
    sync = with;
    StartTables();
  }
  // The scheduler's word, unasked.
  void Switch(const char* to) {
    sync = to;
    Control(scheduler, wire::Kind::kTableMap, Map(0));
  }
  std::optional<Status> usable;
};

TEST_F(WorkerRulesTest, UnderAnOrdinaryModelNobodyNeedsToAsk) {
  Start("bsp");
  EXPECT_FALSE(gated);
  AnswerAt(0, 0, -1, 7, 2);
  ASSERT_TRUE(node->Clock().ok());
  EXPECT_EQ(node->iteration(), Iteration(1))
      << "bsp tells of higher iterations only when it is through with one";
}

TEST_F(WorkerRulesTest, WhoMayLeaveIterationsOutMeetsTheOthersBeforeTheFirstStepOrNotAtAll) {
  Start("drop:2");
  node->Barrier("begin", {});
  EXPECT_EQ(env.transport.TakeSent(scheduler, wire::Kind::kBarrier).size(), 1U);
  ASSERT_TRUE(node->Clock().ok());
  std::optional<Status> met;
  node->Barrier("epoch", Into(met));
  ASSERT_TRUE(met.has_value());
  EXPECT_EQ(met->code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(met->message(), AllOf(HasSubstr("barrier \"epoch\": table \"w\" follows \"drop:2\""),
                                    HasSubstr("before the first step"), HasSubstr("join()")));
  EXPECT_THAT(env.transport.TakeSent(scheduler, wire::Kind::kBarrier), IsEmpty());
  Switch("bsp");
  EXPECT_TRUE(node->MayMeet("push_pull").ok());
  node->Barrier("epoch", {});
  EXPECT_EQ(env.transport.TakeSent(scheduler, wire::Kind::kBarrier).size(), 1U);
}

TEST_F(WorkerRulesTest, AWaitIsChargedToTheBlockOfItsOwnTableThatCameLast) {
  Start("bsp");
  ASSERT_TRUE(node->Clock().ok());
  Answer(1, 1, 0, 2, {8, 8});
  node->Sync(w, Into(usable));
  env.Advance(std::chrono::milliseconds(30));
  Verdict(1, 1, 1, wire::Verdict::kAbsent);
  // In one frame with a block of another table, which stands behind it.
  wire::Answers answers = AnswerOf(0, 0, 2, 2);
  answers.entries.push_back(AnswerOf(2, 0, 2, 2).entries[0]);
  Deliver(0, wire::Kind::kAnswers, answers, std::vector<float>{7, 7, 9, 9});
  ASSERT_TRUE(usable.has_value() && usable->ok());
  const auto& waits = node->counters().wait_by_ns;
  EXPECT_EQ(waits.at("table.w"), 30'000'000U);
  EXPECT_EQ(waits.at("server.0"), 30'000'000U);
  EXPECT_EQ(waits.size(), 2U);
  env.transport.sent.clear();
  node->Shutdown({});
  const auto reports = env.transport.TakeSent(scheduler, wire::Kind::kReport);
  ASSERT_EQ(reports.size(), 1U);
  const auto figures = ParseAs<wire::pb::Report>(reports[0]).values();
  EXPECT_DOUBLE_EQ(figures.at("wait.block.w/0"), 0.03);
  EXPECT_FALSE(figures.contains("wait.block.w/1"));
}

TEST_F(WorkerRulesTest, AWaitIsChargedToTheWorkerThatTheLastAnswerWasHeldUpFor) {
  Start("bsp");
  const auto wait_for = [this](std::int64_t progress, WorkerId first, WorkerId last) {
    ASSERT_TRUE(node->Clock().ok());
    usable.reset();
    node->Sync(w, Into(usable));
    const auto version = static_cast<std::uint64_t>(progress) + 2;
    wire::Answers answers = AnswerOf(0, progress, version, 2);
    answers.entries[0].held_for = first;
    env.Advance(std::chrono::milliseconds(10));
    Deliver(0, wire::Kind::kAnswers, answers, std::vector<float>{7, 7});
    answers = AnswerOf(1, progress, version, 2);
    answers.entries[0].held_for = last;
    env.Advance(std::chrono::milliseconds(20));
    Deliver(1, wire::Kind::kAnswers, answers, std::vector<float>{8, 8});
    ASSERT_TRUE(usable.has_value() && usable->ok());
  };
  wait_for(0, WorkerId(5), WorkerId(3));
  const auto& waits = node->counters().wait_by_ns;
  EXPECT_EQ(waits.at("worker.3"), 30'000'000U) << "the wall time of the wait, once";
  EXPECT_FALSE(waits.contains("worker.5"));
  wait_for(1, WorkerId(3), WorkerId(5));
  EXPECT_EQ(waits.at("worker.5"), 30'000'000U);
  wait_for(2, WorkerId(3), kNoWorker);
  EXPECT_EQ(waits.at("worker.3"), 30'000'000U) << "the last one was the server's and the network's";
  EXPECT_EQ(waits.at("server.1"), 90'000'000U);
}

TEST_F(WorkerRulesTest, AReportSaysWhatTheWorkerDoes) {
  Start("bsp");
  const auto moment = [this] {
    env.transport.sent.clear();
    env.Advance(WorkerOptions().link.beat);
    const auto reports = env.transport.TakeSent(scheduler, wire::Kind::kReport);
    EXPECT_FALSE(reports.empty());
    return reports.empty() ? wire::pb::WorkerMoment() : ParseAs<wire::pb::Report>(reports.back()).moment();
  };
  const double beat_s = std::chrono::duration<double>(WorkerOptions().link.beat).count();
  node->Sync(w, Into(usable));
  ASSERT_TRUE(usable.has_value());
  wire::pb::WorkerMoment now = moment();
  EXPECT_NEAR(now.training_s(), beat_s, 1e-9);
  EXPECT_NEAR(now.computing_s(), beat_s, 1e-9) << "of the first step, which is not over";
  EXPECT_EQ(now.since_step_s(), 0);
  EXPECT_EQ(now.waits_on(), "");
  ASSERT_TRUE(node->Clock().ok());
  usable.reset();
  node->Sync(w, Into(usable));
  now = moment();
  EXPECT_EQ(now.waits_on(), "values");
  EXPECT_EQ(now.name(), "w");
  EXPECT_TRUE(now.has_shard());
  EXPECT_EQ(now.shard(), 0U);
  EXPECT_NEAR(now.waiting_s(), beat_s, 1e-9);
  EXPECT_EQ(now.computing_s(), 0);
  EXPECT_NEAR(now.since_step_s(), beat_s, 1e-9);
  Answer(0, 0, 0, 2, {7, 7});
  Answer(1, 1, 0, 2, {8, 8});
  ASSERT_TRUE(usable.has_value() && usable->ok());
  now = moment();
  EXPECT_NEAR(now.computing_s(), beat_s, 1e-9) << "without the wait; verdicts that lack hold up nobody";
  EXPECT_NEAR(now.training_s(), 3 * beat_s, 1e-9);
}

TEST_F(WorkerRulesTest, AnUnknownModelRefusesTheTablesAndNamesThem) {
  JoinJob();
  CreateTables();
  sync = "bpp:3";
  node->Start(Into(started));
  Control(scheduler, wire::Kind::kTableMap, Map(1));
  ASSERT_TRUE(started.has_value());
  EXPECT_EQ(started->code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(started->message(), AllOf(HasSubstr("table \"w\" on server 0"), HasSubstr("bpp")));
}

TEST_F(WorkerRulesTest, TheEndOfAnIterationGoesOnInTheLowestToldByAllThatSkip) {
  Start("drop:2");
  EXPECT_TRUE(gated);
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  Verdict(0, 0, 1, wire::Verdict::kLateDropped, 1, 7);
  Verdict(1, 1, 1, wire::Verdict::kLateDropped, 1, 5);
  ASSERT_TRUE(node->Clock().ok());
  EXPECT_EQ(node->iteration(), Iteration(1)) << "table u has told nothing above 0";
  EXPECT_THAT(told_iterations, IsEmpty());
  Verdict(0, 2, 1, wire::Verdict::kAbsent, 1, 6);
  ASSERT_TRUE(node->Clock().ok());
  EXPECT_EQ(node->iteration(), Iteration(5));
  EXPECT_THAT(told_iterations, ElementsAre(5));
  EXPECT_EQ(node->counters().iterations_skipped, 3U);
}

TEST_F(WorkerRulesTest, AnIterationThatIsOverElsewhereBecomesALaterOneBeforeItIsUsed) {
  Start("drop:2");
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  ASSERT_TRUE(node->Clock().ok());
  node->Sync(w, Into(usable));
  AnswerAt(0, 2, 0, 9, 9, {3, 3});
  AnswerAt(0, 0, 0, 9, 9, {7, 7});
  AnswerAt(1, 1, 0, 8, 8, {8, 8});
  ASSERT_TRUE(usable.has_value() && usable->ok());
  EXPECT_EQ(node->iteration(), Iteration(8));
  EXPECT_THAT(told_iterations, ElementsAre(8));
  EXPECT_TRUE(w_pair.Take());
  EXPECT_THAT(Copy(w_pair), ElementsAre(7, 7, 8, 8));
  (void)Sent(0);
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  const std::vector<SentFrame> pushes = env.transport.TakeSent(shard[1], wire::Kind::kPush);
  EXPECT_EQ(DecodeAs<wire::Push>(pushes.back()).iteration, Iteration(8));
}

TEST_F(WorkerRulesTest, ATableThatHoldsTooOldValuesForTheLaterIterationIsAskedForAgain) {
  Start("drop:2");
  ASSERT_TRUE(node->Clock().ok());
  Answer(0, 0, 0, 2, {7, 7});
  Answer(1, 1, 0, 2, {8, 8});
  Answer(0, 2, 0, 2, {9, 9});
  Verdict(0, 0, 1, wire::Verdict::kAbsent, 1, 4);
  Verdict(1, 1, 1, wire::Verdict::kAbsent, 1, 4);
  Verdict(0, 2, 1, wire::Verdict::kAbsent, 1, 4);
  (void)Sent(0);
  (void)Sent(1);
  node->Sync(w, Into(usable));
  EXPECT_FALSE(usable.has_value());
  EXPECT_EQ(node->iteration(), Iteration(4));
  EXPECT_THAT(Sent(0), ElementsAre("Pull 0@3,2@3"));
  EXPECT_THAT(node->WaitingFor(), HasSubstr("values for iteration 4"));
  AnswerAt(0, 0, 3, 4, 5, {4, 4});
  AnswerAt(1, 1, 3, 4, 5, {5, 5});
  ASSERT_TRUE(usable.has_value() && usable->ok());
  EXPECT_TRUE(w_pair.Take());
  EXPECT_THAT(Copy(w_pair), ElementsAre(4, 4, 5, 5));
}

TEST_F(WorkerRulesTest, AnIterationWithAGradientStaysTheOneItIs) {
  Start("drop:2");
  ASSERT_TRUE(node->Push(u, Lend(std::span(gradient).first(2)), {}).ok());
  for (const auto& [on, block] : {std::pair(0, 0U), {1, 1U}, {0, 2U}}) {
    AnswerAt(static_cast<std::size_t>(on), block, -1, 9, 1);
  }
  node->Sync(w, Into(usable));
  EXPECT_TRUE(usable.has_value());
  EXPECT_EQ(node->iteration(), Iteration(0));
}

TEST_F(WorkerRulesTest, OtherBlocksAreToldThatTheIterationsBetweenAreLeftOut) {
  // Table u on server 0 under bsp, the rest skips: u's block would wait for the iterations left out.
  sync = "drop:2";
  JoinJob();
  CreateTables();
  node->Start(Into(started));
  wire::pb::TableMap map = Map(1);
  map.mutable_tables(1)->set_sync("bsp");
  Control(scheduler, wire::Kind::kTableMap, map);
  for (const auto& [on, block] : {std::pair(0, 0U), {1, 1U}, {0, 2U}}) {
    Answer(static_cast<std::size_t>(on), block, -1, 1, {1, 1});
  }
  (void)Sent(0);
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  Verdict(0, 0, 1, wire::Verdict::kLateDropped, 1, 4);
  Verdict(1, 1, 1, wire::Verdict::kLateDropped, 1, 4);
  (void)Sent(0);
  ASSERT_TRUE(node->Clock().ok());
  EXPECT_EQ(node->iteration(), Iteration(4));
  EXPECT_THAT(Sent(0), ElementsAre("Absent 2:1", "Absent 2:2", "Pull 2@3,0@3"));
}

TEST_F(WorkerRulesTest, WhatIsKnownToBeLateGoesOutAsAbsent) {
  Start("drop:2");
  std::optional<Status> done;
  Verdict(0, 0, 0, wire::Verdict::kInitialized, 1, 3);
  ASSERT_TRUE(node->Push(w, Lend(gradient), Into(done)).ok());
  EXPECT_THAT(Sent(0), ElementsAre("Absent 0:1", "Pull 0@0"));
  EXPECT_THAT(Sent(1), ElementsAre("Push 1:1", "Pull 1@0"));
  EXPECT_EQ(node->counters().skipped_late, 1U);
  Verdict(1, 1, 1, wire::Verdict::kSummed);
  EXPECT_FALSE(done.has_value()) << "lent until all blocks are settled";
  Verdict(0, 0, 1, wire::Verdict::kAbsent, 1, 3);
  EXPECT_TRUE(done.has_value() && done->ok());
}

TEST_F(WorkerRulesTest, LateGradientsAreSentWhereTheyAreApplied) {
  Start("drop:2,late=apply");
  Verdict(0, 0, 0, wire::Verdict::kInitialized, 1, 3);
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  EXPECT_THAT(Sent(0), ElementsAre("Push 0:1", "Pull 0@0"));
  EXPECT_EQ(node->counters().skipped_late, 0U);
}

TEST_F(WorkerRulesTest, WhatWasSentBeforeIsSentAgainAsItWas) {
  Start("drop:2");
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  Verdict(0, 0, 0, wire::Verdict::kInitialized, 1, 3);
  Reconnect(0);
  EXPECT_THAT(Sent(0), ElementsAre("Hello", "Push 0:1", "Pull 0@0")) << "it may have been taken";
}

TEST_F(WorkerRulesTest, BoundedBeginsAnIterationWhenThePushesBeforeItAreSettled) {
  Start("bounded:1");
  EXPECT_TRUE(gated);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
    ASSERT_TRUE(node->Clock().ok());
    for (const auto& [on, block] : {std::pair(0, 0U), {1, 1U}, {0, 2U}}) {
      Answer(static_cast<std::size_t>(on), block, i, static_cast<std::uint64_t>(2 + i), {2, 2});
    }
  }
  node->Sync(w, Into(usable));
  EXPECT_FALSE(usable.has_value()) << "iteration 2 with nothing settled of iteration 0";
  env.Advance(std::chrono::milliseconds(1500));
  EXPECT_THAT(node->WaitingFor(),
              AllOf(HasSubstr("table \"w\" block 0 on server 0 shard 0"),
                    HasSubstr("the verdict on push 1 of iteration 0"), HasSubstr("bounded:1"),
                    HasSubstr("iteration 2"), HasSubstr("1.5 s")));
  Verdict(0, 0, 1, wire::Verdict::kApplied);
  Verdict(0, 2, 1, wire::Verdict::kAbsent);
  EXPECT_FALSE(usable.has_value());
  Verdict(1, 1, 1, wire::Verdict::kApplied);
  EXPECT_TRUE(usable.has_value() && usable->ok()) << "those of iteration 1 may be open";
  EXPECT_EQ(node->counters().wait_by_ns.at("server.1"), 1'500'000'000U);
}

TEST_F(WorkerRulesTest, ASwitchLetsGoWhatTheModelBeforeHeldUp) {
  Start("bounded:0");
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  ASSERT_TRUE(node->Clock().ok());
  for (const auto& [on, block] : {std::pair(0, 0U), {1, 1U}, {0, 2U}}) {
    Answer(static_cast<std::size_t>(on), block, 0, 2, {2, 2});
  }
  node->Sync(w, Into(usable));
  EXPECT_FALSE(usable.has_value());
  Switch("asp");
  EXPECT_TRUE(usable.has_value() && usable->ok());
  EXPECT_FALSE(gated);
}

TEST_F(WorkerRulesTest, ASwitchByServerConcernsTheBlocksThere) {
  Start("bsp");
  wire::pb::TableMap map = Map(0);
  for (wire::pb::Table& table : *map.mutable_tables()) {
    wire::pb::ServerSync* of_server = table.add_of_servers();
    of_server->set_server(1);
    of_server->set_sync("bounded:0");
  }
  Control(scheduler, wire::Kind::kTableMap, map);
  EXPECT_TRUE(gated);
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  ASSERT_TRUE(node->Clock().ok());
  for (const auto& [on, block] : {std::pair(0, 0U), {1, 1U}, {0, 2U}}) {
    Answer(static_cast<std::size_t>(on), block, 0, 2, {2, 2});
  }
  node->Sync(w, Into(usable));
  EXPECT_FALSE(usable.has_value());
  Verdict(1, 1, 1, wire::Verdict::kApplied);
  EXPECT_TRUE(usable.has_value()) << "block 0 is on server 0, under bsp";
}

TEST_F(WorkerRulesTest, ASwitchToWhatNobodyKnowsEndsTheWorkerWithItsName) {
  Start("bsp");
  Switch("bpp");
  ASSERT_TRUE(failed.has_value());
  EXPECT_THAT(failed->message(), HasSubstr("bpp"));
}

TEST_F(WorkerRulesTest, ACachedBlockIsAskedForOnlyWhenItIsTooOld) {
  Start("ssptable:2");
  std::vector<std::string> pulls;
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(node->Clock().ok());
    for (const std::string& line : Sent(1)) {
      if (line.starts_with("Pull")) pulls.push_back(line);
    }
    // Held since iteration 0: good for iterations 1 and 2.
    EXPECT_EQ(w_pair.ready() >= Iteration(i), i < 2) << i;
  }
  EXPECT_THAT(pulls, ElementsAre("Pull 1@2", "Pull 1@3"));
}

TEST_F(WorkerRulesTest, AWorkerThatHasLeftIsHeldUpByNoRule) {
  Start("bounded:0");
  std::optional<Status> left;
  node->Leave(Into(left));
  wire::pb::Left message;
  message.set_epoch(2);
  Control(scheduler, wire::Kind::kLeft, message);
  EXPECT_TRUE(left.has_value());
  EXPECT_FALSE(gated);
}

}  // namespace
}  // namespace leeway::testing
