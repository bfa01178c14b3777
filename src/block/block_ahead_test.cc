// Models that sum gradients of later iterations into the one under way (psp with ahead=sum), and what is
// late.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "base/hash.h"
#include "block/testing/hand_fed_block.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Goes on when so many are in since the last advance, or everybody has sent this iteration.
class TakenSoMany final : public SyncModel {
 public:
  explicit TakenSoMany(std::uint32_t c) : c_(c) {}
  PullVerdict OnPull(const SyncView& view, Memory&, WorkerId, Iteration progress) const override {
    return progress < view.v_train ? PullVerdict::kNow : PullVerdict::kLater;
  }
  Advance MayAdvance(const SyncView& view, Memory&) const override {
    const std::uint32_t members = view.MembersAt(view.v_train);
    const bool enough = view.progress.TakenSinceAdvance() >= std::min(c_, members);
    return enough || view.CountAt(view.v_train) >= members ? Advance::Yes() : Advance::No();
  }
  std::optional<std::int64_t> Lead() const override { return 0; }
  const char* DefaultApply() const override { return "aggregate"; }
  bool SumsAhead() const override { return true; }
  std::string PullCondition() const override { return "progress < v_train"; }
  std::string PushCondition() const override { return "taken >= c"; }

 private:
  const std::uint32_t c_;
};

HandFedOptions Ahead(std::uint32_t c, const char* sync = "bsp", const char* optimizer = "sum") {
  return {.sync = sync, .optimizer = optimizer, .model = std::make_unique<TakenSoMany>(c)};
}

TEST(BlockAheadTest, AGradientOfALaterIterationGoesIntoTheOneUnderWay) {
  HandFedBlock block(Ahead(3, "bsp", "sgd"));
  block.Begin(4);
  block.Push(0, 0, {4, 0});
  block.Push(0, 1, {0, 4});
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 0#1 v0", "SUMMED 0#2 v0"));
  EXPECT_EQ(block->Save().sums.size(), 1U);
  block.Push(1, 0, {4, 4});
  EXPECT_EQ(block->v_train(), Iteration(1)) << "three since the last advance, of two workers";
  EXPECT_NEAR(block.values()[0], -2.0F, 1e-6F) << "mean 8 / 3, d / N = 3 / 4";
  EXPECT_NEAR(block.values()[1], -2.0F, 1e-6F);
}

TEST(BlockAheadTest, ThereIsNoWindow) {
  HandFedBlock block(Ahead(3));
  block.Begin(4);
  block.Push(0, 40);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 0#1 v0"));
  EXPECT_EQ(block->counters().windows, 0U);
}

TEST(BlockAheadTest, EachAdvanceWantsItsOwnContributions) {
  HandFedBlock block(Ahead(1));
  block.Begin(2);
  block.Push(0, 10);
  EXPECT_EQ(block->v_train(), Iteration(1)) << "one contribution is one advance, however far ahead it is";
  block.Push(0, 11);
  EXPECT_EQ(block->v_train(), Iteration(2));
  block.Push(1, 2);
  EXPECT_EQ(block->v_train(), Iteration(3));
  EXPECT_THAT(block.values(), ElementsAre(3.0F, 3.0F));
}

TEST(BlockAheadTest, VTrainNeverPassesWhatAnyoneHasSent) {
  HandFedBlock block(Ahead(1));
  block.Begin(3);
  for (std::uint32_t w = 0; w < 3; ++w) block.Absent(w, 0);
  EXPECT_EQ(block->v_train(), Iteration(1)) << "1 and 2 are late for 0, and count for nothing";
  EXPECT_EQ(block->counters().absent, 3U);
  block.Roster();
  block->OnTimer(block.Now());
  EXPECT_EQ(block->v_train(), Iteration(1));
}

TEST(BlockAheadTest, ALatePushAndOneSentAgainBringTheIterationNothing) {
  HandFedBlock block(Ahead(2));
  block.Begin(3);
  block.Push(0, 0);
  block.Push(1, 0);
  ASSERT_EQ(block->v_train(), Iteration(1));
  block.Forget();
  block.Push(2, 0);
  block.Push(0, 1);
  EXPECT_THAT(block.Heard(), ElementsAre("LATE_DROPPED 2#1 v1", "SUMMED 0#2 v1"));
  block.Push(0, 1);
  EXPECT_THAT(block.Heard(), ElementsAre("REFUSED 0#3 v1"));
  EXPECT_EQ(block->v_train(), Iteration(1));
  block.Push(2, 1);
  EXPECT_EQ(block->v_train(), Iteration(2));
  EXPECT_THAT(block.values(), ElementsAre(4.0F, 4.0F));
}

TEST(BlockAheadTest, ThoseWhoAreAllAheadHoldNobody) {
  HandFedBlock block(Ahead(2));
  block.Begin(2);
  block.Push(0, 0);
  block.Push(0, 1);
  ASSERT_EQ(block->v_train(), Iteration(1));
  block.Pull(0, 1);
  block.Forget();
  block.Push(1, 1);
  EXPECT_THAT(block.Heard(), ElementsAre("SUMMED 1#1 v2", "ANSWER 0 p1 v2 r3"))
      << "only one since the last advance, but nobody will send iteration 1 any more";
}

TEST(BlockAheadTest, AMemberThatLeavesFreesTheRest) {
  HandFedBlock block(Ahead(3));
  block.Begin(3);
  block.Push(0, 0);
  block.Push(1, 0);
  block.Pull(1, 0);
  block.Forget();
  block.Leave(2).Roster();
  EXPECT_THAT(block.Heard(), ElementsAre("ANSWER 1 p0 v1 r2"));
  EXPECT_THAT(block.values(), ElementsAre(2.0F, 2.0F));
}

TEST(BlockAheadTest, ASwitchPutsWhatIsOpenIntoOneSumAndCountsWhatCameSinceTheLastAdvance) {
  for (const char* reduce : {"aggregate", "aggregate:reduce=ordered"}) {
    HandFedBlock block({.sync = "ssp:2", .apply = reduce, .optimizer = "sgd"});
    block.Begin(4);
    PushEvent heavy = block.NextPush(0, 0);
    heavy.samples = 2;
    block.Feed(heavy, {6, 0});
    block.Push(0, 1, {0, 3});
    block.Push(0, 2, {0, 9});
    ASSERT_EQ(block->Save().sums.size(), 3U);
    block.Switch("bsp", reduce, std::make_unique<TakenSoMany>(4));
    EXPECT_EQ(block->Save().sums.size(), 1U) << reduce;
    block.Push(1, 0, {3, 3});
    EXPECT_EQ(block->v_train(), Iteration(1)) << reduce;
    EXPECT_THAT(block.values(), ElementsAre(-3.0F, -3.0F)) << "(12 + 3) / 5 * 4 / 4";
  }
}

TEST(BlockAheadTest, ImmediateIsRefused) {
  const TakenSoMany model(2);
  const auto mode = MakeApplyMode("immediate", model);
  ASSERT_FALSE(mode.ok());
  EXPECT_THAT(mode.status().message(), ::testing::HasSubstr("use aggregate"));
}

TEST(BlockAheadTest, AnyOrderOfEventsHangsNobodyAndLosesNothing) {
  constexpr std::uint32_t kWorkers = 3;
  constexpr std::int64_t kIterations = 12;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    HandFedBlock block(
        Ahead(1 + static_cast<std::uint32_t>(seed % 3), seed % 2 == 0 ? "bsp" : "bsp:late=apply"));
    block.Begin(kWorkers);
    std::vector<std::int64_t> next(kWorkers, 0);
    std::vector<bool> waits(kWorkers, false);
    float taken = 0;
    const auto listen = [&] {
      for (const std::string& line : block.Heard()) {
        if (line.starts_with("SUMMED")) taken += 1.0F;
        if (line.starts_with("ANSWER") || line.starts_with("UNCHANGED"))
          waits[std::stoul(line.substr(line.find(' ') + 1))] = false;
      }
    };
    std::uint64_t random = seed;
    for (int idle = 0; idle < 200; ++idle) {
      random = Mix64(random);
      const auto worker = static_cast<std::uint32_t>(random % kWorkers);
      // Now and then one goes on before it is answered, as partial pull lets it.
      if (next[worker] >= kIterations || (waits[worker] && random / 8 % 6 != 0)) continue;
      idle = 0;
      if (random / 64 % 7 == 0) {
        block.Absent(worker, next[worker]);
      } else {
        block.Push(worker, next[worker]);
      }
      waits[worker] = true;
      block.Pull(worker, next[worker]++);
      listen();
      ASSERT_LE(block->v_train().value(), std::ranges::max(next)) << "seed " << seed;
    }
    for (std::uint32_t w = 0; w < kWorkers; ++w) {
      EXPECT_EQ(next[w], kIterations) << "seed " << seed;
      EXPECT_FALSE(waits[w]) << "seed " << seed << " worker " << w;
    }
    for (std::uint32_t w = 0; w < kWorkers; ++w) block.Leave(w).Roster();
    listen();
    EXPECT_EQ(block->waiting(), 0U) << "seed " << seed;
    EXPECT_THAT(block.values(), ElementsAre(taken, taken)) << "seed " << seed;
  }
}

// Goes on with the first contribution.
class WithTheFirst final : public SyncModel {
 public:
  PullVerdict OnPull(const SyncView& view, Memory&, WorkerId, Iteration progress) const override {
    return progress < view.v_train ? PullVerdict::kNow : PullVerdict::kLater;
  }
  Advance MayAdvance(const SyncView& view, Memory&) const override {
    return view.CountAt(view.v_train) >= 1 ? Advance::Yes() : Advance::No();
  }
  std::optional<std::int64_t> Lead() const override { return 0; }
  const char* DefaultApply() const override { return "aggregate"; }
  std::string PullCondition() const override { return "progress < v_train"; }
  std::string PushCondition() const override { return "count >= 1"; }
};

TEST(BlockLateTest, WhatCameLateToAnIterationThatNobodyElseSendsIsAppliedWhenAllHaveGone) {
  HandFedBlock block(
      {.sync = "bsp:late=apply", .optimizer = "sgd", .model = std::make_unique<WithTheFirst>()});
  block.Begin(4);
  block.Push(0, 0, {4, 4});
  EXPECT_THAT(block.values(), ElementsAre(-1.0F, -1.0F));
  block.Push(1, 0, {4, 8});
  EXPECT_THAT(block.values(), ElementsAre(-1.0F, -1.0F)) << "open in iteration 1";
  for (std::uint32_t w = 0; w < 4; ++w) block.Leave(w);
  block.Roster();
  EXPECT_EQ(block->v_train(), Iteration(1));
  EXPECT_THAT(block.values(), ElementsAre(-2.0F, -3.0F)) << "as one of the four that were members";
  EXPECT_EQ(block->counters().late_applied, 1U);
}

TEST(BlockLateTest, ApplyAndDropAreCountedUnderBothApplyModes) {
  for (const char* apply : {"aggregate", "immediate"}) {
    for (const bool drops : {false, true}) {
      HandFedBlock block({.sync = drops ? "bsp:late=drop" : "bsp:late=apply",
                          .apply = apply,
                          .model = std::make_unique<WithTheFirst>()});
      block.Begin(2);
      block.Push(0, 0);
      block.Push(1, 0, {10, 10});
      block.Push(0, 1);
      const float late = drops ? 0.0F : 10.0F;
      EXPECT_THAT(block.values(), ElementsAre(2.0F + late, 2.0F + late)) << apply;
      EXPECT_EQ(block->counters().late_dropped, drops ? 1U : 0U) << apply;
      EXPECT_EQ(block->counters().late_applied, drops ? 0U : 1U) << apply;
    }
  }
}

// Always true, as a formula may be.
class Always final : public SyncModel {
 public:
  PullVerdict OnPull(const SyncView&, Memory&, WorkerId, Iteration) const override {
    return PullVerdict::kNow;
  }
  Advance MayAdvance(const SyncView&, Memory&) const override {
    ++asked;
    return Advance::Yes();
  }
  std::optional<std::int64_t> Lead() const override { return 0; }
  const char* DefaultApply() const override { return "immediate"; }
  std::string PullCondition() const override { return "always"; }
  std::string PushCondition() const override { return "always"; }
  mutable int asked = 0;
};

TEST(BlockLateTest, AModelThatAlwaysSaysYesIsNotAskedForEver) {
  auto model = std::make_unique<Always>();
  const Always& always = *model;
  HandFedBlock block({.model = std::move(model)});
  block.Begin(2);
  block.Push(0, 0);
  EXPECT_EQ(block->v_train(), Iteration(1));
  block.Absent(1, 4);
  EXPECT_EQ(block->v_train(), Iteration(5));
  for (std::uint32_t w = 0; w < 2; ++w) block.Leave(w).Roster();
  for (int i = 0; i < 10; ++i) {
    block.Roster();
    block->OnTimer(block.Now());
  }
  EXPECT_EQ(block->v_train(), Iteration(5));
  EXPECT_LE(always.asked, 10);
}

// Never satisfied.
class Never final : public SyncModel {
 public:
  PullVerdict OnPull(const SyncView&, Memory&, WorkerId, Iteration) const override {
    return PullVerdict::kLater;
  }
  Advance MayAdvance(const SyncView&, Memory&) const override { return Advance::No(); }
  std::optional<std::int64_t> Lead() const override { return 0; }
  const char* DefaultApply() const override { return "aggregate"; }
  std::string PullCondition() const override { return "never"; }
  std::string PushCondition() const override { return "never"; }
};

TEST(BlockLateTest, WhenTheLastMemberHasGoneWhatIsOpenIsAppliedWhateverTheModelSays) {
  HandFedBlock block({.model = std::make_unique<Never>()});
  block.Begin(2);
  block.Push(0, 0);
  block.Push(0, 1);
  block.Leave(0).Roster();
  EXPECT_THAT(block.values(), ElementsAre(0.0F, 0.0F));
  block.Leave(1).Roster();
  EXPECT_THAT(block.values(), ElementsAre(2.0F, 2.0F));
  EXPECT_EQ(block->v_train(), Iteration(2));
}

// Waits 100 ns in every iteration, counted from when the block came to it.
class AfterAHundred final : public SyncModel {
 public:
  PullVerdict OnPull(const SyncView& view, Memory&, WorkerId, Iteration progress) const override {
    return progress < view.v_train ? PullVerdict::kNow : PullVerdict::kLater;
  }
  Advance MayAdvance(const SyncView& view, Memory&) const override {
    const TimePoint due = view.advanced_at + Duration(100);
    return view.now >= due ? Advance::Yes() : Advance::At(due);
  }
  std::optional<std::int64_t> Lead() const override { return 0; }
  const char* DefaultApply() const override { return "aggregate"; }
  std::string PullCondition() const override { return "progress < v_train"; }
  std::string PushCondition() const override { return "100 ns"; }
};

TEST(BlockTimerTest, ALeapPassesNoIterationThatWantsItsTime) {
  HandFedBlock block({.model = std::make_unique<AfterAHundred>()});
  block.now_ns = 1000;
  block.Begin(2);
  block.Absent(0, 2);
  EXPECT_THAT(block.Heard(), ElementsAre("WAKE 1100", "ABSENT 0#1 v0"));
  block.Absent(1, 1);
  EXPECT_THAT(block.Heard(), ElementsAre("ABSENT 1#1 v0")) << "the timer is set already";
  for (int i = 1; i <= 3; ++i) {
    block.now_ns = 1000 + 100 * i;
    block->OnTimer(block.Now());
    EXPECT_EQ(block->v_train(), Iteration(i));
  }
  block.Forget();
  block->OnTimer(block.Now());
  EXPECT_THAT(block.Heard(), IsEmpty()) << "a stale timer finds nothing to do";
}

}  // namespace
}  // namespace leeway
