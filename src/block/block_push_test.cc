// Pushes of a block: beyond the window, late, refused, absent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>

#include "block/testing/hand_fed_block.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

// Backup workers: the first n contributions are enough. With it a slower worker's push comes late.
class FirstFew final : public SyncModel {
 public:
  explicit FirstFew(std::uint32_t n) : n_(n) {}
  PullVerdict OnPull(const SyncView& view, Memory&, WorkerId, Iteration progress) const override {
    return progress < view.v_train ? PullVerdict::kNow : PullVerdict::kLater;
  }
  Advance MayAdvance(const SyncView& view, Memory&) const override {
    const std::uint32_t needed = std::min(n_, view.MembersAt(view.v_train));
    return view.CountAt(view.v_train) >= needed ? Advance::Yes() : Advance::No();
  }
  std::optional<std::int64_t> Lead() const override { return 0; }
  const char* DefaultApply() const override { return "aggregate"; }
  std::string PullCondition() const override { return "progress < v_train"; }
  std::string PushCondition() const override { return "as the test says"; }

 private:
  const std::uint32_t n_;
};

// Waits until 100 ns, whoever has come by then.
class AtAHundred final : public SyncModel {
 public:
  PullVerdict OnPull(const SyncView& view, Memory&, WorkerId, Iteration progress) const override {
    return progress < view.v_train ? PullVerdict::kNow : PullVerdict::kLater;
  }
  Advance MayAdvance(const SyncView& view, Memory&) const override {
    const TimePoint at(Duration(100));
    if (view.CountAt(view.v_train) == 0) return Advance::No();
    return view.now >= at ? Advance::Yes() : Advance::At(at);
  }
  std::optional<std::int64_t> Lead() const override { return 0; }
  const char* DefaultApply() const override { return "aggregate"; }
  std::string PullCondition() const override { return "progress < v_train"; }
  std::string PushCondition() const override { return "as the test says"; }
};

TEST(BlockPushTest, ImmediateAppliesEachPushAndAggregateWaitsForAll) {
  HandFedBlock immediate({.sync = "asp"});
  immediate.Begin(2);
  immediate.Push(0, 0, {1, 2});
  EXPECT_THAT(immediate.Heard(), ElementsAre("APPLIED 0#1 v0"));
  EXPECT_THAT(immediate.values(), ElementsAre(1.0F, 2.0F));

  HandFedBlock aggregate({.sync = "bsp"});
  aggregate.Begin(2);
  aggregate.Push(0, 0, {1, 2});
  EXPECT_THAT(aggregate.Heard(), ElementsAre("SUMMED 0#1 v0"));
  EXPECT_THAT(aggregate.values(), ElementsAre(0.0F, 0.0F)) << "a pull never sees an open sum";
  EXPECT_EQ(aggregate->version(), Version(1));
  aggregate.Push(1, 0, {10, 20});
  EXPECT_THAT(aggregate.Heard(), ElementsAre("SUMMED 1#1 v1"));
  EXPECT_THAT(aggregate.values(), ElementsAre(11.0F, 22.0F));
  EXPECT_EQ(aggregate->version(), Version(2));
}

TEST(BlockPushTest, AGradientThatIsLentIsNotKept) {
  for (const char* sync : {"asp", "bsp"}) {
    for (const char* apply : {"", "aggregate:reduce=ordered"}) {
      if (std::string(sync) == "asp" && *apply != 0) continue;
      HandFedBlock block({.sync = sync, .apply = apply});
      block.Begin(2);
      std::vector<float> lent = {1, 2};
      block->OnPush(block.NextPush(0, 0), Gradient(lent, {}), TimePoint());
      lent = {100, 200};  // its owner goes on with it
      block->OnPush(block.NextPush(1, 0), Gradient(lent, {}), TimePoint());
      EXPECT_THAT(block.values(), ElementsAre(101.0F, 202.0F)) << sync << " " << apply;
    }
  }
}

TEST(BlockPushTest, AGradientThatWasTakenBackIsNoPush) {
  std::atomic<std::uint64_t> word{1};
  const std::vector<float> lent = {1, 2};
  for (const char* sync : {"asp", "bsp"}) {
    HandFedBlock block({.sync = sync});
    block.Begin(1);
    const PushEvent push = block.NextPush(0, 0);
    block->OnPush(push, Gradient(lent, {&word, 2}), TimePoint());
    EXPECT_THAT(block.Heard(), IsEmpty()) << "nobody is there to hear";
    EXPECT_THAT(block.values(), ElementsAre(0.0F, 0.0F));
    block->OnPush(push, Gradient(lent, {&word, 1}), TimePoint());
    EXPECT_THAT(block.values(), ElementsAre(1.0F, 2.0F)) << "the same seq is taken when it comes whole";
  }
}

TEST(BlockPushTest, WhatAGradientThatWasTakenBackHasPassedOverStaysPassed) {
  std::atomic<std::uint64_t> word{1};
  const std::vector<float> lent = {1, 2};
  HandFedBlock block;
  block.Begin(2);
  block.Push(0, 50);
  block.Forget();
  const PushEvent push = block.NextPush(1, 50);
  block->OnPush(push, Gradient(lent, {&word, 2}), TimePoint());
  EXPECT_THAT(block.Heard(), ElementsAre("OPEN 0#1 v50")) << "the other one waits no longer";
  block->OnPush(push, Gradient(lent, {&word, 1}), TimePoint());
  block.PushSeq(0, 1, 50);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 1#1 v50", "SUMMED 0#1 v51"));
}

TEST(BlockPushTest, InitialValuesThatAreLentAreCopiedOrRefused) {
  std::atomic<std::uint64_t> word{1};
  HandFedBlock block({.sync = "asp"});
  block.Join(0, 0).Roster();
  std::vector<float> lent = {1, kNan};
  const MemberKey from{WorkerId(0), Incarnation(1)};
  block->OnInit(from, Term(1), Gradient(lent, {}), TimePoint());
  EXPECT_THAT(block.Heard(), ElementsAre(::testing::HasSubstr("REFUSED")));
  lent = {1, 2};
  block->OnInit(from, Term(1), Gradient(lent, {&word, 2}), TimePoint());
  EXPECT_FALSE(block->initialized());
  block->OnInit(from, Term(1), Gradient(lent, {&word, 1}), TimePoint());
  lent = {5, 6};
  EXPECT_THAT(block.values(), ElementsAre(1.0F, 2.0F));
}

TEST(BlockPushTest, ImmediateStepsWithTheLearningRateOverN) {
  HandFedBlock block({.sync = "asp", .optimizer = "sgd"});
  block.Begin(4);
  block.Push(0, 0, {4, 8});
  EXPECT_THAT(block.values(), ElementsAre(-1.0F, -2.0F));
  block.Leave(1).Leave(2).Roster();
  block.Push(0, 1, {4, 8});
  EXPECT_THAT(block.values(), ElementsAre(-3.0F, -6.0F));
}

TEST(BlockPushTest, AggregateStepsOnTheSampleWeightedMean) {
  HandFedBlock block({.optimizer = "sgd"});
  block.Begin(2);
  PushEvent push = block.NextPush(0, 0);
  push.samples = 3;
  block.Feed(push, {4, 8});
  block.Push(1, 0, {8, 0});
  EXPECT_THAT(block.values(), ElementsAre(-5.0F, -6.0F));  // (3 * 4 + 8) / 4, (3 * 8 + 0) / 4
}

TEST(BlockPushTest, FewerContributorsMakeASmallerStep) {
  HandFedBlock block({.optimizer = "sgd"});
  block.Begin(4);
  block.Push(0, 0, {4, 8});
  for (std::uint32_t w = 1; w < 4; ++w) block.Absent(w, 0);
  EXPECT_THAT(block.values(), ElementsAre(-1.0F, -2.0F));  // d / N = 1 / 4
}

TEST(BlockPushTest, SumAddsExactlyWhatWasPushedWhateverTheShare) {
  HandFedBlock block;
  block.Begin(3);
  block.Push(0, 0, {1, 0});
  block.Push(1, 0, {0, 1});
  block.Absent(2, 0);
  EXPECT_THAT(block.values(), ElementsAre(1.0F, 1.0F));
}

TEST(BlockPushTest, WhenEveryoneIsAbsentTheOptimizerIsNotRun) {
  HandFedBlock block({.optimizer = "mean"});  // would write zeros over the values
  block.Begin(2);
  block.Push(0, 0, {6, 6});
  block.Push(1, 0, {8, 8});
  EXPECT_THAT(block.values(), ElementsAre(7.0F, 7.0F));
  block.Absent(0, 1);
  block.Absent(1, 1);
  EXPECT_THAT(block.values(), ElementsAre(7.0F, 7.0F));
  EXPECT_EQ(block->v_train(), Iteration(2));
  EXPECT_EQ(block->version(), Version(2));
  EXPECT_EQ(block->counters().steps, 1U);
}

TEST(BlockPushTest, AbsentForAnIterationMakesEarlierUnsentOnesAbsent) {
  HandFedBlock block;
  block.Begin(2);
  block.Push(0, 0);
  block.Push(0, 1);
  block.Absent(1, 5);
  EXPECT_EQ(block->v_train(), Iteration(2)) << "worker 1 is absent from 0 to 5, worker 0 has sent 0 and 1";
  block.Push(0, 2);
  EXPECT_EQ(block->v_train(), Iteration(3));
  EXPECT_THAT(block.values(), ElementsAre(3.0F, 3.0F));
  block.Absent(0, 9);
  EXPECT_EQ(block->v_train(), Iteration(6)) << "worker 1 has sent nothing beyond 5";
}

TEST(BlockPushTest, APushThatSkipsIterationsIsAbsentFromThem) {
  HandFedBlock block({.sync = "ssp:3"});
  block.Begin(2);
  block.Push(0, 2);
  for (int i = 0; i < 3; ++i) block.Push(1, i);
  EXPECT_EQ(block->v_train(), Iteration(3));
  EXPECT_THAT(block.values(), ElementsAre(4.0F, 4.0F));
}

TEST(BlockPushTest, ANanIsRefusedAndHoldsNobody) {
  for (const char* apply : {"aggregate", "immediate"}) {
    for (const float bad : {kNan, kInf, -kInf}) {
      HandFedBlock block({.apply = apply, .elements = 3});
      block.Begin(2);
      block.Push(0, 0, {1, bad, 1});
      block.Push(1, 0, {1, 2, 3});
      EXPECT_EQ(block.Heard().front(), "REFUSED 0#1 v0");
      EXPECT_EQ(block->v_train(), Iteration(1));
      EXPECT_THAT(block.values(), ElementsAre(1.0F, 2.0F, 3.0F));
      EXPECT_EQ(block->counters().refused, 1U);
      block.PushSeq(0, 1, 0);
      EXPECT_EQ(block.Heard().back(), "REFUSED 0#1 v1") << "a refused push keeps its verdict";
    }
  }
}

TEST(BlockPushTest, ATableMayAcceptNans) {
  for (const char* apply : {"aggregate", "immediate"}) {
    HandFedBlock block({.apply = apply, .nonfinite = NonFinite::kAccept});
    block.Begin(1);
    block.Push(0, 0, {kNan, 1});
    EXPECT_TRUE(std::isnan(block.values()[0])) << apply;
    EXPECT_EQ(block->counters().refused, 0U);
    EXPECT_EQ(block->version(), Version(2));
  }
}

TEST(BlockPushTest, ASumThatOverflowsKeepsTheOldValuesAndGoesOn) {
  HandFedBlock block;
  block.Begin(2);
  block.Push(0, 0, {3e38F, 1});
  block.Push(1, 0, {3e38F, 1});
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 0#1 v0", "SUMMED 1#1 v1"));
  EXPECT_THAT(block.values(), ElementsAre(0.0F, 0.0F));
  EXPECT_EQ(block->version(), Version(1));
  EXPECT_EQ(block->counters().overflowed, 1U);
  block.Push(0, 1);
  block.Push(1, 1);
  EXPECT_THAT(block.values(), ElementsAre(2.0F, 2.0F));
}

TEST(BlockPushTest, WhatIsNotAGradientOfThisBlockIsRefused) {
  struct Case {
    const char* what;
    std::vector<float> gradient;
    std::uint32_t samples;
    std::int64_t iteration;
  };
  for (const Case& c : {Case{"wrong size", {1, 1, 1}, 1, 0}, Case{"no samples", {1, 1}, 0, 0},
                        Case{"beyond all jobs", {1, 1}, 1, std::numeric_limits<std::int64_t>::max()}}) {
    for (const char* apply : {"aggregate", "immediate"}) {
      HandFedBlock block({.apply = apply});
      block.Begin(1);
      PushEvent push = block.NextPush(0, c.iteration);
      push.samples = c.samples;
      block.Feed(push, c.gradient);
      EXPECT_EQ(block.Heard().front().substr(0, 11), "REFUSED 0#1") << c.what;
      EXPECT_EQ(block->version(), Version(1)) << c.what;
    }
  }
}

TEST(BlockPushTest, InitialValuesThatAreNotFiniteAreRefusedAndDoNotCount) {
  HandFedBlock block;
  block.Join(0, 0).Join(1, 0).Roster();
  block.Init({1, kNan});
  block.Init({std::numeric_limits<float>::infinity(), 1});
  EXPECT_THAT(block.Heard(), ElementsAre("REFUSED 0#0 v0", "REFUSED 0#0 v0"));
  EXPECT_FALSE(block->initialized());
  EXPECT_EQ(block->counters().refused, 2U);
  block.Init({1, 2}, 1);
  block.Init({1, kNan});
  EXPECT_THAT(block.Heard(), ElementsAre("INITIALIZED 1#0 v0", "INITIALIZED 0#0 v0"))
      << "later ones change nothing";
  EXPECT_THAT(block.values(), ElementsAre(1.0F, 2.0F));

  HandFedBlock lenient({.nonfinite = NonFinite::kAccept});
  lenient.Join(0, 0).Roster();
  lenient.Init({1, kNan});
  EXPECT_TRUE(lenient->initialized());
}

TEST(BlockPushTest, APushBeforeTheInitialValuesIsRefused) {
  HandFedBlock block;
  block.Join(0, 0).Roster();
  block.Push(0, 0);
  EXPECT_THAT(block.Heard(), ElementsAre("REFUSED 0#1 v1"));
  EXPECT_FALSE(block->initialized());
}

TEST(BlockPushTest, AnIterationCountsOncePerLife) {
  HandFedBlock block;
  block.Begin(2);
  block.Push(0, 0);
  block.Push(0, 0);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 0#1 v0", "REFUSED 0#2 v0"));
  block.Push(1, 0);
  EXPECT_THAT(block.values(), ElementsAre(2.0F, 2.0F));
}

TEST(BlockPushTest, BeyondTheWindowIsHeldBackAndOpenedWhenItFits) {
  HandFedBlock block({.apply = "aggregate:window=2"});
  block.Begin(2);
  block.Push(0, 0);
  block.Push(0, 1);
  block.Push(0, 2);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 0#1 v0", "SUMMED 0#2 v0", "WINDOW 0#3 v0"));
  EXPECT_EQ(block->counters().windows, 1U);
  block.PushSeq(0, 4, 3);
  EXPECT_THAT(block.Heard(), ElementsAre("GAP 0#2 v0")) << "WINDOW consumes no sequence";
  block.Push(1, 0);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 1#1 v1", "OPEN 0#3 v1"));
  block.PushSeq(0, 3, 2);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 0#3 v1"));
  block.Push(1, 1);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 1#2 v2")) << "opened once";
  EXPECT_THAT(block.values(), ElementsAre(4.0F, 4.0F));
}

TEST(BlockPushTest, OpenIsNotSaidOfASequenceThatWasTakenSince) {
  HandFedBlock block;
  block.Begin(2);
  for (int i = 0; i < 3; ++i) block.Push(0, i);
  block->OnAbsent({.from = HandFedBlock::Key(0), .term = Term(1), .seq = Seq(3), .iteration = Iteration(2)},
                  block.Now());
  block.Forget();
  block.Push(1, 0);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 1#1 v1"));
}

TEST(BlockPushTest, AbsentPushesAreNeverBeyondTheWindow) {
  HandFedBlock block({.apply = "aggregate:window=2"});
  block.Begin(2);
  block.Absent(0, 40);
  EXPECT_THAT(block.Heard(), ElementsAre("ABSENT 0#1 v0"));
}

TEST(BlockPushTest, ImmediateHasNoWindow) {
  HandFedBlock block({.sync = "asp"});
  block.Begin(2);
  block.Push(0, 40);
  EXPECT_THAT(block.Heard(), ElementsAre("APPLIED 0#1 v0"));
}

TEST(BlockPushTest, WorkersThatBeginFarAheadDoNotWaitForEachOther) {
  HandFedBlock block;
  block.Begin(2);
  block.Push(0, 50);
  EXPECT_THAT(block.Heard(), ElementsAre("WINDOW 0#1 v0"));
  block.Push(1, 50);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 1#1 v50", "OPEN 0#1 v50"));
  block.PushSeq(0, 1, 50);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 0#1 v51"));
  EXPECT_THAT(block.values(), ElementsAre(2.0F, 2.0F));
}

TEST(BlockPushTest, ALostConnectionForgetsTheWindowSinceThePushComesAgain) {
  HandFedBlock block;
  block.Begin(2);
  for (int i = 0; i < 3; ++i) block.Push(0, i);
  block->OnDisconnected(HandFedBlock::Key(0));
  block.Forget();
  block.Push(1, 0);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 1#1 v1"));
}

TEST(BlockPushTest, ALatePushIsDroppedUnderAggregate) {
  HandFedBlock block({.model = std::make_unique<FirstFew>(1)});
  block.Begin(2);
  block.Push(0, 0);
  block.Push(0, 1);
  block.Forget();
  block.Push(1, 0, {100, 100});
  EXPECT_THAT(block.Heard(), ElementsAre("LATE_DROPPED 1#1 v2"));
  EXPECT_THAT(block.values(), ElementsAre(2.0F, 2.0F));
  EXPECT_EQ(block->counters().late_dropped, 1U);
}

TEST(BlockPushTest, LateApplyAddsToTheOpenIterationWithoutCountingThere) {
  HandFedBlock block({.sync = "bsp:late=apply", .optimizer = "sgd", .model = std::make_unique<FirstFew>(2)});
  block.Begin(3);
  block.Push(0, 0, {3, 0});
  block.Push(1, 0, {3, 0});
  EXPECT_THAT(block.values(), ElementsAre(-2.0F, 0.0F));  // mean 3, d / N = 2 / 3
  block.Forget();
  block.Push(2, 0, {0, 3});
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 2#1 v1"));
  EXPECT_EQ(block->v_train(), Iteration(1)) << "a late push is not a contribution to the open iteration";
  block.Push(0, 1, {3, 0});
  EXPECT_EQ(block->v_train(), Iteration(1));
  block.Push(1, 1, {3, 0});
  EXPECT_EQ(block->v_train(), Iteration(2));
  EXPECT_THAT(block.values(),
              ElementsAre(-4.0F, -1.0F));  // mean (2, 1), d / N = 3 / 3: the late one counts in d
}

TEST(BlockPushTest, UnderImmediateALatePushIsAppliedUnlessAskedToDrop) {
  HandFedBlock immediate({.sync = "asp", .apply = "immediate", .model = std::make_unique<FirstFew>(1)});
  immediate.Begin(2);
  immediate.Push(0, 0);
  immediate.Push(0, 1);
  immediate.Forget();
  immediate.Push(1, 0);
  EXPECT_THAT(immediate.Heard(), ElementsAre("APPLIED 1#1 v2"));

  HandFedBlock drops({.sync = "asp:late=drop", .apply = "immediate", .model = std::make_unique<FirstFew>(1)});
  drops.Begin(2);
  drops.Push(0, 0);
  drops.Forget();
  drops.Push(1, 0);
  EXPECT_THAT(drops.Heard(), ElementsAre("LATE_DROPPED 1#1 v1"));
  EXPECT_THAT(drops.values(), ElementsAre(1.0F, 1.0F));
}

TEST(BlockPushTest, ADelayingModelIsAskedAgainAtItsTime) {
  HandFedBlock block({.model = std::make_unique<AtAHundred>()});
  block.Begin(2);
  block.Push(0, 0);
  block.Pull(0, 0);
  EXPECT_THAT(block.Heard(), ElementsAre("WAKE 100", "SUMMED 0#1 v0"));
  block.now_ns = 99;
  block->OnTimer(block.Now());
  EXPECT_THAT(block.Heard(), ElementsAre("WAKE 100"));
  block.now_ns = 100;
  block->OnTimer(block.Now());
  EXPECT_THAT(block.Heard(), ElementsAre("ANSWER 0 p0 v1 r2"));
  block->OnTimer(block.Now());
  EXPECT_THAT(block.Heard(), IsEmpty()) << "v_train does not pass what anyone has sent";
}

TEST(BlockPushTest, AFarLeapTakesNoLongerThanAStep) {
  HandFedBlock block;
  block.Begin(1);
  const std::int64_t far = (std::int64_t{1} << 62) - 2;
  block.Push(0, 0);
  block.Absent(0, far);
  EXPECT_EQ(block->v_train(), Iteration(far + 1));
  EXPECT_EQ(block->counters().advances, static_cast<std::uint64_t>(far + 1));
}

TEST(BlockPushTest, HyperParametersAreThoseOfTheContributorWithTheMostSteps) {
  struct Contributor {
    std::uint64_t steps;
    float lr;
  };
  struct Case {
    std::vector<Contributor> by_rank;
    float lr;
    std::uint64_t mismatches;
  };
  for (const Case& c :
       {Case{{{5, 1.0F}, {9, 2.0F}, {7, 4.0F}}, 2.0F, 1}, Case{{{9, 1.0F}, {9, 2.0F}, {9, 4.0F}}, 1.0F, 1},
        Case{{{1, 4.0F}, {9, 4.0F}, {3, 4.0F}}, 4.0F, 0}}) {
    for (const std::vector<std::uint32_t>& order :
         {std::vector<std::uint32_t>{0, 1, 2}, std::vector<std::uint32_t>{2, 1, 0},
          std::vector<std::uint32_t>{1, 2, 0}}) {
      HandFedBlock block({.optimizer = "sgd"});
      block.Begin(3);
      for (const std::uint32_t w : order) {
        PushEvent push = block.NextPush(w, 0);
        push.steps = c.by_rank[w].steps;
        push.hyper.lr = c.by_rank[w].lr;
        block.Feed(push, {1, 1});
      }
      EXPECT_THAT(block.values(), ElementsAre(-c.lr, -c.lr));
      EXPECT_EQ(block->counters().hyper_mismatches, c.mismatches);
    }
  }
}

TEST(BlockPushTest, AStrideEndsWhereAFormulaOfVTrainSaysNo) {
  HandFedBlock block({.sync = "when:pull=\"1\",push=\"count >= workers || fastest - v_train > 100\""});
  block.Begin(2);
  block.Push(0, 5000);
  EXPECT_EQ(block->v_train(), Iteration(4900)) << "5000 - 4900 is not above 100";
  block.Push(0, 1'000'000'000);
  EXPECT_EQ(block->v_train(), Iteration(999'999'900));
  block.Push(1, 1'000'000'000);
  EXPECT_EQ(block->v_train(), Iteration(1'000'000'001));
}

}  // namespace
}  // namespace leeway
