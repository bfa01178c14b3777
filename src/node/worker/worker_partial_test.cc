// Partial pull, hand-fed: three blocks in all, so that two of them are a share of 0.6.
#include "node/worker/testing/worker_rig.h"

namespace leeway::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WorkerPartialTest : public WorkerRig {
 protected:
  void Start(const char* pull, const char* with = "bsp") {
    sync = with;
    job.set_pull(pull);
    StartTables();
  }
  // Ends the iteration, answers all but block 1 for `progress`, and asks to use table w.
  void NextWithoutBlockOne(std::int64_t progress) {
    ASSERT_TRUE(node->Clock().ok());
    Answer(0, 0, progress, static_cast<std::uint64_t>(progress) + 2,
           {10.0F + static_cast<float>(progress), 0});
    Answer(0, 2, progress, static_cast<std::uint64_t>(progress) + 2, {1, 1});
    usable.reset();
    node->Sync(w, Into(usable));
  }
  void PassTau() { env.Advance(std::chrono::milliseconds(50)); }

  std::optional<Status> usable;
};

TEST_F(WorkerPartialTest, GoesOnWithTheShareOnceTauHasPassedAndKeepsTheOldBlock) {
  Start("partial:0.6,50");
  NextWithoutBlockOne(0);
  env.Advance(std::chrono::milliseconds(49));
  EXPECT_FALSE(usable.has_value()) << "before tau";
  env.Advance(std::chrono::milliseconds(1));
  ASSERT_TRUE(usable.has_value() && usable->ok());
  EXPECT_TRUE(w_pair.Take());
  EXPECT_THAT(Copy(w_pair), ElementsAre(10, 0, 1, 1));
  EXPECT_EQ(node->counters().skipped_blocks, 1U);
  EXPECT_EQ(node->counters().wait_by_ns.at("server.1"), 50'000'000U) << "block 1 is on server 1";
}

TEST_F(WorkerPartialTest, NothingIsSkippedInAnIterationThatIsLeftOutItself) {
  Start("partial:0.6,50", "drop:2");
  ASSERT_TRUE(node->Clock().ok());
  AnswerAt(0, 0, 0, 5, 2, {10, 0});
  AnswerAt(0, 2, 0, 5, 2, {1, 1});
  Verdict(1, 1, 1, wire::Verdict::kAbsent, 1, 5);
  node->Sync(w, Into(usable));
  PassTau();
  EXPECT_EQ(node->iteration(), Iteration(5));
  EXPECT_FALSE(usable.has_value()) << "iteration 5 has a tau of its own";
  EXPECT_EQ(node->counters().skipped_blocks, 0U);
  AnswerAt(1, 1, 4, 5, 3, {8, 8});
  EXPECT_TRUE(usable.has_value() && usable->ok());
  EXPECT_EQ(node->counters().skipped_blocks, 0U);
}

TEST_F(WorkerPartialTest, BelowTheShareItWaitsAndSaysForWhat) {
  Start("partial:0.7,50");
  NextWithoutBlockOne(0);
  PassTau();
  PassTau();
  EXPECT_FALSE(usable.has_value());
  EXPECT_THAT(node->WaitingFor(), AllOf(HasSubstr("table \"w\" block 1 on server 1"), HasSubstr("70 %")));
  Answer(1, 1, 0, 2, {8, 8});
  EXPECT_TRUE(usable.has_value()) << "all are there: no tau";
}

TEST_F(WorkerPartialTest, ABlockIsLeftOutSkipMaxTimesRunningAndThenWaitedFor) {
  Start("partial:0.6,50,skip_max=2");
  for (std::int64_t i = 0; i < 2; ++i) {
    NextWithoutBlockOne(i);
    PassTau();
    ASSERT_TRUE(usable.has_value()) << i;
    EXPECT_TRUE(w_pair.Take());
  }
  NextWithoutBlockOne(2);
  PassTau();
  PassTau();
  EXPECT_FALSE(usable.has_value());
  EXPECT_THAT(node->WaitingFor(), AllOf(HasSubstr("block 1"), HasSubstr("left out 2 times running")));
  Answer(1, 1, 2, 4, {8, 8});
  ASSERT_TRUE(usable.has_value());
  EXPECT_TRUE(w_pair.Take());
  EXPECT_THAT(Copy(w_pair), ElementsAre(12, 0, 8, 8));
  NextWithoutBlockOne(3);
  PassTau();
  EXPECT_TRUE(usable.has_value()) << "counted anew";
}

TEST_F(WorkerPartialTest, ALateAnswerIsTakenByTheNextIterationAndNotBefore) {
  Start("partial:0.6,50,skip_max=1");
  NextWithoutBlockOne(0);
  PassTau();
  ASSERT_TRUE(usable.has_value());
  EXPECT_TRUE(w_pair.Take());
  EXPECT_EQ(node->counters().late_answers, 0U);
  Answer(1, 1, 0, 2, {8, 8});
  EXPECT_EQ(node->counters().late_answers, 1U);
  EXPECT_TRUE(w_pair.Take());
  EXPECT_THAT(Copy(w_pair), ElementsAre(10, 0, 1, 1)) << "nothing changes under the user";
  NextWithoutBlockOne(1);
  PassTau();
  ASSERT_TRUE(usable.has_value()) << "it has a newer version than before, so it is not left out again";
  EXPECT_TRUE(w_pair.Take());
  EXPECT_THAT(Copy(w_pair), ElementsAre(11, 0, 8, 8));
  EXPECT_EQ(node->counters().skipped_blocks, 1U);
}

TEST_F(WorkerPartialTest, LateDropThrowsItAway) {
  Start("partial:0.6,50,late_pull=drop");
  NextWithoutBlockOne(0);
  PassTau();
  EXPECT_TRUE(w_pair.Take());
  ASSERT_TRUE(node->Clock().ok());
  Answer(1, 1, 0, 2, {8, 8});
  Answer(0, 0, 1, 3, {11, 0});
  Answer(0, 2, 1, 3, {1, 1});
  usable.reset();
  node->Sync(w, Into(usable));
  PassTau();
  ASSERT_TRUE(usable.has_value());
  EXPECT_TRUE(w_pair.Take());
  EXPECT_THAT(Copy(w_pair), ElementsAre(11, 0, 1, 1));
  EXPECT_EQ(node->counters().skipped_blocks, 2U);
}

TEST_F(WorkerPartialTest, WithdrawThrowsLateAnswersAwayTooAndTellsServers) {
  Start("partial:0.6,50,late_pull=withdraw");
  NextWithoutBlockOne(0);
  PassTau();
  EXPECT_TRUE(w_pair.Take());
  (void)env.transport.TakeSent(shard[1]);
  ASSERT_TRUE(node->Clock().ok());
  const auto pulls = env.transport.TakeSent(shard[1], wire::Kind::kPull);
  ASSERT_FALSE(pulls.empty());
  EXPECT_EQ(DecodeAs<wire::Pull>(pulls.back()).flags, wire::Pull::kNewestOnly | wire::Pull::kByPriority);
  Answer(1, 1, 0, 2, {8, 8});
  Answer(0, 0, 1, 3, {11, 0});
  Answer(0, 2, 1, 3, {1, 1});
  usable.reset();
  node->Sync(w, Into(usable));
  PassTau();
  ASSERT_TRUE(usable.has_value());
  EXPECT_TRUE(w_pair.Take());
  EXPECT_THAT(Copy(w_pair), ElementsAre(11, 0, 1, 1));
  EXPECT_EQ(node->counters().late_answers, 1U);
  EXPECT_EQ(node->counters().skipped_blocks, 2U);
}

TEST_F(WorkerPartialTest, NothingLandsInWhatIsShownWhileItIsOnItsWay) {
  Start("partial:0.6,50");
  NextWithoutBlockOne(0);
  std::vector<std::byte> body;
  wire::Encode(AnswerOf(1, 0, 2, 2), body);
  Result<Landing> landing = env.transport.DeliverStart(shard[1], wire::Kind::kAnswers, body, 8);
  ASSERT_TRUE(landing.ok());
  PassTau();
  ASSERT_TRUE(usable.has_value());
  EXPECT_TRUE(w_pair.Take());
  std::memset(landing->places[0].data(), 0xFF, 8);
  EXPECT_THAT(Copy(w_pair), ElementsAre(10, 0, 1, 1));
}

TEST_F(WorkerPartialTest, AWrongPolicyEndsTheJoinWithWhatItGot) {
  job.set_pull("partial:1.5,50");
  BeginJoin();
  ASSERT_TRUE(joined.has_value());
  EXPECT_THAT(joined->message(), HasSubstr("1.5"));
}

}  // namespace
}  // namespace leeway::testing
