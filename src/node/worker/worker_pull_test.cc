// The worker node's pulls and landings, hand-fed.
#include "node/worker/testing/worker_rig.h"

namespace leeway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WorkerPullTest : public WorkerRig {};

TEST_F(WorkerPullTest, StartPullsTheInitialValuesOfJobClockTables) {
  JoinJob();
  CreateTables();
  node->Start(Into(started));
  const std::vector<SentFrame> asked = env.transport.TakeSent(scheduler, wire::Kind::kDefineTables);
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(ParseAs<wire::pb::DefineTables>(asked[0]).tables_size(), 3);
  EXPECT_FALSE(started.has_value());
  Control(scheduler, wire::Kind::kTableMap, Map(1));
  EXPECT_TRUE(started.has_value() && started->ok());
  EXPECT_THAT(Sent(0), ElementsAre("Pull 0@-1,2@-1"));
  EXPECT_THAT(Sent(1), ElementsAre("Pull 1@-1"));
}

TEST_F(WorkerPullTest, ARefusedDefinitionNamesWhyAndLaterTablesStillWork) {
  JoinJob();
  CreateTables();
  node->Start(Into(started));
  wire::pb::TableMap refusal;
  refusal.set_request(1);
  refusal.set_error("unknown sync model \"bpp\"");
  refusal.set_error_code(static_cast<std::uint32_t>(StatusCode::kNotFound));
  Control(scheduler, wire::Kind::kTableMap, refusal);
  ASSERT_TRUE(started.has_value());
  EXPECT_EQ(started->code(), StatusCode::kNotFound);
  EXPECT_THAT(node->Push(w, Lend(gradient), {}).message(), HasSubstr("bpp"));
  ParameterPair pair(4, nullptr, nullptr);
  EXPECT_TRUE(node->CreateTable({.name = "w", .shape = {4}}, pair).ok());
  EXPECT_FALSE(failed.has_value());
}

TEST_F(WorkerPullTest, ATableIsUsableWhenAllItsBlocksAreHereAndLandsInTheBack) {
  StartTables();
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  ASSERT_TRUE(node->Clock().ok());
  std::optional<Status> usable;
  node->Sync(w, Into(usable));
  Answer(0, 0, 0, 2, {7, 7});
  EXPECT_FALSE(usable.has_value());
  EXPECT_THAT(Copy(w_pair), ElementsAre(1, 1, 1, 1)) << "nothing lands in what is in use";
  Answer(1, 1, 0, 2, {8, 8});
  ASSERT_TRUE(usable.has_value() && usable->ok());
  EXPECT_THAT(Copy(w_pair), ElementsAre(1, 1, 1, 1));
  EXPECT_TRUE(w_pair.Take());
  EXPECT_THAT(Copy(w_pair), ElementsAre(7, 7, 8, 8));
}

class WorkerRelayTest : public WorkerPullTest {
 protected:
  void SetUp() override {
    sync = "bsp";
    apply = "relay";
    StartTables();
    ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
    ASSERT_TRUE(node->Clock().ok());
  }
  void AnswerMean(std::size_t on, std::uint32_t block, std::int64_t mean,
                  const std::vector<float>& values = {}) {
    wire::Answers answers = AnswerOf(block, 0, 2, values.size());
    answers.entries[0].mean = Iteration(mean);
    if (values.empty()) answers.entries[0].content = wire::AnswerEntry::Content::kNoGradient;
    Deliver(on, wire::Kind::kAnswers, answers, values);
  }
};

TEST_F(WorkerRelayTest, TheMeanOfTheIterationLandsInTheBack) {
  std::optional<Status> w_usable, u_usable;
  node->Sync(w, Into(w_usable));
  node->Sync(u, Into(u_usable));
  AnswerMean(0, 0, 0, {7, 7});
  AnswerMean(1, 1, 0);
  AnswerMean(0, 2, 0);
  ASSERT_TRUE(w_usable.has_value() && u_usable.has_value());
  ASSERT_TRUE(w_pair.Take() && u_pair.Take());
  EXPECT_THAT(w_pair.Read(), ElementsAre(7, 7, 0, 0)) << "one block had no gradient";
  EXPECT_THAT(u_pair.Read(), IsEmpty()) << "nobody gave one";
  EXPECT_EQ(node->counters().unchanged, 0U);
}

TEST_F(WorkerRelayTest, AMeanThatNobodyAskedForEndsTheWorker) {
  AnswerMean(0, 0, 1, {7, 7});
  ASSERT_TRUE(failed.has_value());
  EXPECT_THAT(failed->message(),
              HasSubstr("block 0: an answer with the mean of iteration 1, wanted that of 0"));
}

TEST_F(WorkerPullTest, AMeanForATableWithValuesEndsTheWorker) {
  StartTables();
  wire::Answers answers = AnswerOf(0, -1, 2, 0);
  answers.entries[0].mean = Iteration(0);
  answers.entries[0].content = wire::AnswerEntry::Content::kNoGradient;
  Deliver(0, wire::Kind::kAnswers, answers);
  ASSERT_TRUE(failed.has_value());
  EXPECT_THAT(failed->message(), HasSubstr("the mean of iteration 0, wanted values"));
}

TEST_F(WorkerPullTest, AUsableTableIsToldAtOnce) {
  StartTables();
  std::optional<Status> usable;
  node->Sync(w, Into(usable));
  EXPECT_TRUE(usable.has_value() && usable->ok());
  EXPECT_EQ(node->WaitingFor(), "");
}

TEST_F(WorkerPullTest, UnchangedBlocksKeepTheirValues) {
  StartTables();
  ASSERT_TRUE(node->Clock().ok());
  Answer(0, 0, 0, 2, {7, 7});
  Answer(1, 1, 0, 1);
  EXPECT_EQ(w_pair.ready(), Iteration(0));
  EXPECT_TRUE(w_pair.Take());
  EXPECT_THAT(Copy(w_pair), ElementsAre(7, 7, 1, 1));
  EXPECT_EQ(node->counters().unchanged, 1U);
}

TEST_F(WorkerPullTest, ACutInTheMiddleOfALandingShowsNothingAndAsksAgain) {
  StartTables();
  ASSERT_TRUE(node->Clock().ok());
  Answer(1, 1, 0, 2, {8, 8});
  std::vector<std::byte> body;
  wire::Encode(AnswerOf(0, 0, 2, 2), body);
  {
    Result<Landing> landing = env.transport.DeliverStart(shard[0], wire::Kind::kAnswers, body, 8);
    ASSERT_TRUE(landing.ok());
    ASSERT_EQ(landing->places.size(), 1U);
    EXPECT_EQ(landing->of_bytes, 6 * sizeof(float)) << "of all tables of the job's clock, w and u";
    EXPECT_EQ(static_cast<void*>(landing->places[0].data()), static_cast<void*>(w_pair.Back().data()));
    std::memset(landing->places[0].data(), 0xFF, 4);
  }
  Reconnect(0);
  EXPECT_EQ(w_pair.ready(), Iteration(-1));
  EXPECT_THAT(Copy(w_pair), ElementsAre(1, 1, 1, 1));
  const std::vector<SentFrame> pulls = env.transport.TakeSent(shard[0], wire::Kind::kPull);
  ASSERT_EQ(pulls.size(), 1U);
  EXPECT_EQ(DecodeAs<wire::Pull>(pulls[0]).entries[0].cached_version, Version(1))
      << "half of version 2 is not held";
  Answer(0, 0, 0, 2, {7, 7});
  EXPECT_EQ(w_pair.ready(), Iteration(0));
  EXPECT_TRUE(w_pair.Take());
  EXPECT_THAT(Copy(w_pair), ElementsAre(7, 7, 8, 8));
}

TEST_F(WorkerPullTest, AnAnswerThatNobodyAskedForGoesNowhere) {
  StartTables();
  Answer(0, 0, -1, 1, {9, 9});
  EXPECT_TRUE(w_pair.Take());
  EXPECT_THAT(Copy(w_pair), ElementsAre(1, 1, 1, 1));
  ASSERT_TRUE(node->Clock().ok());
  Answer(0, 0, -1, 1, {9, 9});
  Answer(1, 1, 0, 2, {8, 8});
  EXPECT_EQ(w_pair.ready(), Iteration(-1)) << "an answer for an older progress does not count for the newer";
  Answer(0, 0, 0, 1);
  EXPECT_TRUE(w_pair.Take());
  EXPECT_THAT(Copy(w_pair), ElementsAre(1, 1, 8, 8));
  EXPECT_FALSE(failed.has_value());
}

TEST_F(WorkerPullTest, AnswersForAVersionNotYetTakenLandAside) {
  StartTables();
  ASSERT_TRUE(node->Clock().ok());
  Answer(0, 2, 0, 2, {2, 2});  // table u, whole and not taken
  ASSERT_TRUE(node->Clock().ok());
  Answer(0, 2, 1, 3, {3, 3});
  EXPECT_EQ(u_pair.ready(), Iteration(1));
  EXPECT_THAT(Copy(u_pair), ElementsAre(1, 1));
  EXPECT_TRUE(u_pair.Take());
  EXPECT_THAT(Copy(u_pair), ElementsAre(3, 3));
}

TEST_F(WorkerPullTest, LeadCountsIterationsThatAnAnswerLags) {
  StartTables();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(node->Clock().ok());
  wire::Answers answers = AnswerOf(0, 2, 1, 0);
  answers.entries[0].v_train = Iteration(0);
  Deliver(0, wire::Kind::kAnswers, answers);
  EXPECT_EQ(node->counters().lead_sum, 3U);
}

TEST_F(WorkerPullTest, WaitingForNamesTableBlockServerAndTheAgeOfItsLastWord) {
  StartTables();
  ASSERT_TRUE(node->Clock().ok());
  Answer(0, 0, 0, 2, {7, 7});
  Verdict(0, 0, 1, wire::Verdict::kAbsent);
  std::optional<Status> usable;
  node->Sync(w, Into(usable));
  env.Advance(std::chrono::milliseconds(2500));
  EXPECT_EQ(node->WaitingFor(),
            "table \"w\" block 1 on server 1 shard 0: values for iteration 1, for 2.5 s (connected, last "
            "heard of 2.5 s "
            "ago)");
  (void)env.transport.Lose(shard[1]);
  EXPECT_THAT(node->WaitingFor(), HasSubstr("not connected"));
}

TEST_F(WorkerPullTest, AnAnswerOfTheWrongSizeEndsTheWorker) {
  StartTables();
  ASSERT_TRUE(node->Clock().ok());
  const std::vector<float> three(3);
  (void)env.transport.DeliverData(shard[0], wire::Kind::kAnswers, AnswerOf(0, 0, 2, 3), three);
  env.Advance(std::chrono::milliseconds(1));
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->code(), StatusCode::kProtocol);
  EXPECT_THAT(failed->message(), HasSubstr("12 bytes"));
}

TEST_F(WorkerPullTest, ATableMadeLateIsAbsentFromTheIterationsBeforeIt) {
  StartTables();
  ASSERT_TRUE(node->Clock().ok());
  (void)Sent(0);
  ParameterPair pair(2, nullptr, nullptr);
  ASSERT_TRUE(node->CreateTable({.name = "late", .shape = {2}}, pair).ok());
  std::optional<Status> again;
  node->Start(Into(again));
  wire::pb::TableMap map;
  map.set_request(2);
  *map.add_tables() = Map(0).tables(1);
  map.mutable_tables(0)->set_name("late");
  map.mutable_tables(0)->mutable_blocks(0)->set_block(4);
  Control(scheduler, wire::Kind::kTableMap, map);
  ASSERT_TRUE(again.has_value() && again->ok());
  EXPECT_THAT(Sent(0), ElementsAre("Absent 4:1", "Pull 4@0"));
  node.reset();  // before the pair
}

TEST_F(WorkerPullTest, InitialValuesGoOutOncePerConnectionUntilAcknowledged) {
  StartTables();
  std::optional<Status> done;
  node->Broadcast(w, gradient, nullptr, Into(done));
  EXPECT_THAT(Sent(0), ElementsAre("Init 0=8"));
  EXPECT_THAT(Sent(1), ElementsAre("Init 1=8"));
  Verdict(1, 1, 0, wire::Verdict::kInitialized);
  EXPECT_FALSE(done.has_value());
  Reconnect(0);
  EXPECT_THAT(Sent(0), ElementsAre("Hello", "Init 0=8"));
  Verdict(0, 0, 0, wire::Verdict::kInitialized);
  EXPECT_TRUE(done.has_value() && done->ok());
  Reconnect(0);
  EXPECT_THAT(Sent(0), ElementsAre("Hello"));
}

}  // namespace
}  // namespace leeway::testing
