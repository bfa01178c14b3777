// Exchange and steps without overlap, hand-fed.
#include <limits>

#include "node/worker/testing/worker_rig.h"

namespace leeway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WorkerExchangeTest : public WorkerRig {
 protected:
  void Start(const char* exchange, const char* with = "bsp") {
    sync = with;
    job.set_exchange(exchange);
    StartTables();
  }
  // One iteration with a gradient of table w alone.
  void Iterate(std::vector<float> values, std::uint32_t samples = 1, Done done = {}) {
    auto pin = std::make_shared<std::vector<float>>(std::move(values));
    const std::span<const float> lent = *pin;
    ASSERT_TRUE(node->Push(w, {lent, std::move(pin), {}, samples}, std::move(done)).ok());
    ASSERT_TRUE(node->Clock().ok());
  }
  [[nodiscard]] std::vector<SentFrame> Pushes(std::size_t to) {
    return env.transport.TakeSent(shard[to], wire::Kind::kPush);
  }
};

TEST_F(WorkerExchangeTest, GradientsAddUpAndGoOutInEveryKthIteration) {
  Start("every:3");
  std::optional<Status> first, third;
  Iterate({1, 0, 0, 0}, 2, Into(first));
  EXPECT_TRUE(first.has_value() && first->ok()) << "copied: the user has it back";
  Iterate({0, 2, 0, 0}, 3);
  EXPECT_THAT(Sent(0), ElementsAre("Absent 0:1", "Absent 2:1", "Absent 0:2", "Absent 2:2"));
  EXPECT_EQ(w_pair.ready(), Iteration(1)) << "what is held serves";
  Iterate({0, 0, 4, 8}, 5, Into(third));
  const std::vector<SentFrame> pushes = Pushes(1);
  ASSERT_EQ(pushes.size(), 1U);
  const auto push = DecodeAs<wire::Push>(pushes[0]);
  EXPECT_EQ(push.iteration, Iteration(2));
  EXPECT_EQ(push.samples, 3U) << "as one of them, on the average";
  EXPECT_THAT(pushes[0].floats(), ElementsAre(4, 8));
  EXPECT_THAT(Sent(0), ElementsAre("Push 0:3", "Pull 0@2", "Absent 2:3", "Pull 2@2"));
  EXPECT_LT(w_pair.ready(), Iteration(2)) << "its values are asked for now";
  EXPECT_EQ(node->counters().exchanges_skipped, 4U);
  EXPECT_FALSE(third.has_value());
  Verdict(0, 0, 1, wire::Verdict::kAbsent);
  Verdict(0, 0, 2, wire::Verdict::kAbsent);
  Verdict(0, 0, 3, wire::Verdict::kSummed);
  for (std::uint64_t seq = 1; seq <= 3; ++seq) Verdict(1, 1, seq, wire::Verdict::kAbsent);
  EXPECT_TRUE(third.has_value() && third->ok());
}

TEST_F(WorkerExchangeTest, AGradientThatIsNotFiniteIsRefusedAloneAndSpoilsNoSum) {
  Start("every:2");
  std::optional<Status> bad;
  Iterate({std::numeric_limits<float>::quiet_NaN(), 0, 0, 0}, 1, Into(bad));
  ASSERT_TRUE(bad.has_value());
  EXPECT_THAT(bad->message(), HasSubstr("table \"w\": the gradient of iteration 0 was refused"));
  Iterate({1, 2, 3, 4});
  EXPECT_THAT(Pushes(0).at(0).floats(), ElementsAre(1, 2));
}

TEST_F(WorkerExchangeTest, WhatHasAddedUpGoesOutBeforeTheWorkerLeaves) {
  Start("every:4");
  Iterate({1, 0, 0, 0});
  Iterate({0, 2, 0, 0});
  EXPECT_THAT(Pushes(0), IsEmpty());
  node->Leave({});
  const std::vector<SentFrame> pushes = Pushes(0);
  ASSERT_EQ(pushes.size(), 1U);
  EXPECT_THAT(pushes[0].floats(), ElementsAre(1, 2));
  EXPECT_EQ(DecodeAs<wire::Push>(pushes[0]).iteration, Iteration(2));
}

TEST_F(WorkerExchangeTest, TheLastSumGoesOutForAnIterationThatNoBlockHasPassed) {
  Start("every:4", "drop:2");
  Iterate({1, 0, 5, 0});
  Iterate({0, 2, 0, 6});
  Verdict(0, 0, 1, wire::Verdict::kAbsent, 1, 6);
  Verdict(0, 0, 2, wire::Verdict::kAbsent, 1, 6);
  Verdict(1, 1, 1, wire::Verdict::kAbsent, 1, 3);
  env.transport.sent.clear();
  node->Leave({});
  const std::vector<SentFrame> pushes = Pushes(0);
  ASSERT_EQ(pushes.size(), 1U) << "below 6 it would be late in block 0, and kept back";
  EXPECT_EQ(DecodeAs<wire::Push>(pushes[0]).iteration, Iteration(6));
  EXPECT_THAT(pushes[0].floats(), ElementsAre(1, 2));
  const std::vector<SentFrame> to_one = env.transport.TakeSent(shard[1]);
  ASSERT_EQ(to_one.size(), 2U);
  EXPECT_EQ(DecodeAs<wire::Absent>(to_one[0]).iteration, Iteration(5))
      << "block 1 waits for what is left out";
  EXPECT_EQ(DecodeAs<wire::Push>(to_one[1]).iteration, Iteration(6));
  EXPECT_THAT(to_one[1].floats(), ElementsAre(5, 6));
  EXPECT_EQ(node->counters().skipped_late, 0U);
}

TEST_F(WorkerExchangeTest, AnExactCutThatCameTooLateForWhatHasAddedUpIsToldSo) {
  Start("every:8");
  const auto cut_at = [this](std::uint64_t checkpoint, std::int64_t iteration) {
    wire::pb::Cut cut;
    cut.set_checkpoint(checkpoint);
    cut.set_folder("/c");
    cut.set_iteration(iteration);
    cut.set_exact(true);
    Control(scheduler, wire::Kind::kCut, cut);
    const auto answers = env.transport.TakeSent(scheduler, wire::Kind::kRankState);
    return ParseAs<wire::pb::RankState>(answers.at(0));
  };
  Iterate({1, 0, 0, 0});
  Iterate({0, 2, 0, 0});
  EXPECT_EQ(cut_at(1, 2).late(), 2) << "the gradients of 0 and 1 are in no block";
  EXPECT_TRUE(cut_at(2, 4).none()) << "in time, from a rank that keeps no state";
  Iterate({0, 0, 3, 0});
  EXPECT_THAT(Pushes(0), IsEmpty());
  Iterate({0, 0, 0, 4});
  const std::vector<SentFrame> pushes = Pushes(0);
  ASSERT_EQ(pushes.size(), 1U) << "before the cut, though 4 is not the 8th";
  EXPECT_EQ(DecodeAs<wire::Push>(pushes[0]).iteration, Iteration(3));
  EXPECT_THAT(pushes[0].floats(), ElementsAre(1, 2));
  Iterate({1, 1, 1, 1});
  EXPECT_THAT(Pushes(0), IsEmpty()) << "once";
  EXPECT_EQ(cut_at(3, 4).late(), 5) << "of iteration 4 it is not said when it went";
}

TEST_F(WorkerExchangeTest, WhenStaleExchangesBeforeWhatIsReadGetsTooOld) {
  Start("when_stale:2");
  std::vector<std::size_t> pushed;
  for (int i = 0; i < 6; ++i) {
    Iterate({1, 1, 1, 1});
    for (const auto& [on, block] : {std::pair(0, 0U), {1, 1U}, {0, 2U}}) {
      AnswerAt(static_cast<std::size_t>(on), block, i, i + 1, 1);
      Verdict(static_cast<std::size_t>(on), block, static_cast<std::uint64_t>(i) + 1, wire::Verdict::kAbsent);
    }
    pushed.push_back(Pushes(0).size());
  }
  // Held of iteration 0 until the exchange of iteration 2, whose values are of iteration 3.
  EXPECT_THAT(pushed, ElementsAre(0, 0, 1, 0, 0, 1));
}

TEST_F(WorkerExchangeTest, SignificantExchangesOnceEnoughHasAddedUp) {
  Start("significant:0.7");  // the values are four ones: |w| = 2
  Iterate({1, 0, 0, 0});
  EXPECT_THAT(Pushes(0), IsEmpty());
  Iterate({1, 0, 0, 0});
  EXPECT_THAT(Pushes(0).at(0).floats(), ElementsAre(2, 0)) << "2 / 2 is above 0.7";
}

TEST_F(WorkerExchangeTest, PullsCarryTheSignificanceWhereAModelLooksAtIt) {
  Start("every:1", "pssp:1,alpha=significance");
  Iterate({0.5F, 0, 0, 0});
  const std::vector<SentFrame> pulls = env.transport.TakeSent(shard[1], wire::Kind::kPull);
  ASSERT_EQ(pulls.size(), 1U);
  EXPECT_EQ(DecodeAs<wire::Pull>(pulls[0]).entries[0].significance, 0.25F) << "0.5 / |1, 1, 1, 1|";
}

TEST_F(WorkerExchangeTest, WithoutOverlapThePullsComeAfterTheVerdictsAndABarrier) {
  job.set_no_overlap(true);
  Start("every:1");
  Iterate({1, 1, 1, 1});
  EXPECT_THAT(Sent(0), ElementsAre("Push 0:1", "Absent 2:1"));
  Verdict(0, 0, 1, wire::Verdict::kSummed);
  Verdict(0, 2, 1, wire::Verdict::kAbsent);
  EXPECT_THAT(env.transport.TakeSent(scheduler, wire::Kind::kBarrier), IsEmpty()) << "block 1 is not settled";
  Verdict(1, 1, 1, wire::Verdict::kSummed);
  const std::vector<SentFrame> barriers = env.transport.TakeSent(scheduler, wire::Kind::kBarrier);
  ASSERT_EQ(barriers.size(), 1U);
  std::optional<Status> usable;
  node->Sync(w, Into(usable));
  EXPECT_THAT(node->WaitingFor(), HasSubstr("all members at barrier \"leeway step\""));
  EXPECT_THAT(Sent(0), IsEmpty());
  env.Advance(std::chrono::milliseconds(20));
  wire::pb::BarrierDone done;
  done.set_name("leeway step");
  done.set_round(1);
  Control(scheduler, wire::Kind::kBarrierDone, done);
  EXPECT_THAT(Sent(0), ElementsAre("Pull 0@0,2@0"));
  EXPECT_FALSE(usable.has_value());
  env.Advance(std::chrono::milliseconds(10));
  Answer(0, 0, 0, 2, {7, 7});
  Answer(1, 1, 0, 2, {8, 8});
  EXPECT_TRUE(usable.has_value() && usable->ok());
  const auto& waits = node->counters().wait_by_ns;
  EXPECT_EQ(waits.at("step.barrier"), 20'000'000U);
  EXPECT_EQ(waits.at("server.1"), 10'000'000U);
  EXPECT_FALSE(waits.contains("server.0"));
}

TEST_F(WorkerExchangeTest, AWorkerThatLeavesWaitsAtNoStep) {
  job.set_no_overlap(true);
  Start("every:1");
  ASSERT_TRUE(node->Clock().ok());
  for (const auto& [on, block] : {std::pair(0, 0U), {1, 1U}, {0, 2U}}) {
    Verdict(static_cast<std::size_t>(on), block, 1, wire::Verdict::kAbsent);
  }
  EXPECT_EQ(env.transport.TakeSent(scheduler, wire::Kind::kBarrier).size(), 1U);
  std::optional<Status> left;
  node->Leave(Into(left));
  wire::pb::Left message;
  message.set_epoch(2);
  Control(scheduler, wire::Kind::kLeft, message);
  EXPECT_TRUE(left.has_value() && left->ok());
  EXPECT_EQ(node->WaitingFor(), "");
  std::optional<Status> usable;
  node->Sync(w, Into(usable));
  EXPECT_THAT(node->WaitingFor(), HasSubstr("table \"w\" block 0")) << "asked for without the barrier";
  Answer(0, 0, 0, 2, {7, 7});
  Answer(1, 1, 0, 2, {8, 8});
  EXPECT_TRUE(usable.has_value() && usable->ok());
}

TEST_F(WorkerExchangeTest, LeadOverWhatGradientsAreComputedOnIsCounted) {
  Start("every:3");
  for (int i = 0; i < 3; ++i) Iterate({1, 1, 1, 1});
  const auto& lead = node->counters().lead;
  EXPECT_EQ(lead[0], 2U);
  EXPECT_EQ(lead[1], 2U);
  EXPECT_EQ(lead[2], 2U);
}

}  // namespace
}  // namespace leeway::testing
