#include "block/sync_state.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace leeway {
namespace {

// Counts in the memory how often it was asked, and lets a block advance at 100 ns after it came to v_train.
class CountingModel final : public SyncModel {
 public:
  PullVerdict OnPull(const SyncView&, Memory& memory, WorkerId, Iteration) const override {
    memory += 'p';
    return PullVerdict::kLater;
  }
  Advance MayAdvance(const SyncView& view, Memory& memory) const override {
    memory += 'a';
    return view.v_train < Iteration(5) ? Advance::At(view.advanced_at + Duration(100)) : Advance::No();
  }
  std::optional<std::int64_t> Lead() const override { return 1; }
  const char* DefaultApply() const override { return "aggregate"; }
  std::string PullCondition() const override { return "false"; }
  std::string PushCondition() const override { return "false"; }
};

SyncPolicy PolicyOf(const std::string& spec) { return *MakeSyncPolicy(BuiltinSyncModels(), spec); }

class SyncStateTest : public ::testing::Test {
 protected:
  SyncStateTest() {
    std::vector<MemberState> members;
    for (std::uint32_t w = 0; w < 2; ++w) members.push_back({.key = {WorkerId(w), Incarnation(1)}});
    progress.SetMembers(members);
  }
  static TimePoint At(std::int64_t ns) { return TimePoint(Duration(ns)); }
  static PullEvent Pull(std::int64_t iteration) {
    return {.from = {WorkerId(0), Incarnation(1)}, .progress = Iteration(iteration)};
  }
  bool MayAnswer(SyncState& sync, std::int64_t iteration) {
    return sync.MayAnswer(Pull(iteration), progress, idle, At(0));
  }

  Progress progress;
  IdleIterations idle;
};

TEST_F(SyncStateTest, ThePullConditionIsTheModels) {
  const SyncPolicy policy = PolicyOf("ssp:2");
  SyncState sync(policy, true, 1);
  EXPECT_TRUE(MayAnswer(sync, 1));
  EXPECT_FALSE(MayAnswer(sync, 2));
}

TEST_F(SyncStateTest, IdleIterationsCountInNoLead) {
  const SyncPolicy policy = PolicyOf("ssp:2");
  SyncState sync(policy, true, 1);
  (void)idle.MarkIdle(Iteration(0));
  EXPECT_TRUE(MayAnswer(sync, 2));
  EXPECT_FALSE(MayAnswer(sync, 3));
}

TEST_F(SyncStateTest, APullThatNoAdvanceCouldReleaseIsAnsweredWhateverTheModelSays) {
  SyncPolicy policy = PolicyOf("bsp");
  policy.model = std::make_unique<CountingModel>();
  SyncState sync(policy, true, 1);
  EXPECT_FALSE(MayAnswer(sync, 0));
  EXPECT_TRUE(MayAnswer(sync, -1));
}

TEST_F(SyncStateTest, ATimeThatHasComeIsAYes) {
  SyncPolicy policy = PolicyOf("bsp");
  policy.model = std::make_unique<CountingModel>();
  SyncState sync(policy, true, 1);
  sync.Begin(At(50));
  progress.Sent(WorkerId(0), Iteration(0), At(60));
  const Advance later = sync.MayAdvance(progress, At(149));
  EXPECT_EQ(later.kind, Advance::Kind::kAt);
  EXPECT_EQ(later.at, At(150));
  EXPECT_EQ(sync.MayAdvance(progress, At(150)).kind, Advance::Kind::kYes);
}

TEST_F(SyncStateTest, AnIterationThatNobodyIsInEndsWithoutTheModel) {
  SyncPolicy policy = PolicyOf("bsp");
  policy.model = std::make_unique<CountingModel>();
  SyncState sync(policy, true, 1);
  progress.Sent(WorkerId(0), Iteration(0), At(0));
  EXPECT_EQ(sync.MayAdvance(progress, At(0)).kind, Advance::Kind::kAt);
  EXPECT_EQ(sync.memory(), "a");
  progress.SetMembers({});
  EXPECT_EQ(sync.MayAdvance(progress, At(0)).kind, Advance::Kind::kYes);
  EXPECT_EQ(sync.memory(), "a");
}

TEST_F(SyncStateTest, AStrideEndsWhereTheModelSaysNoAndLeavesItsMemoryAlone) {
  SyncPolicy policy = PolicyOf("bsp");
  policy.model = std::make_unique<CountingModel>();
  SyncState sync(policy, true, 1);
  EXPECT_EQ(sync.StrideWithin(Iteration(16), progress, At(200)), Iteration(4));
  EXPECT_EQ(sync.memory(), "");
}

TEST_F(SyncStateTest, AnAdvanceReleasesOnceAndSoftReleaseWaitsForAnOwnIteration) {
  const SyncPolicy lazy = PolicyOf("ssp:2"), soft = PolicyOf("ssp:2,release=soft");
  SyncState sync(lazy, true, 1);
  EXPECT_EQ(sync.TakeReleased(idle), std::nullopt);
  idle.AdvanceTo(Iteration(3));
  sync.Advanced(true, At(0));
  EXPECT_EQ(sync.TakeReleased(idle), Iteration(3));
  EXPECT_EQ(sync.TakeReleased(idle), std::nullopt);
  sync.Follow(soft, true, 1);
  sync.Advanced(false, At(0));
  EXPECT_EQ(sync.TakeReleased(idle), Iteration(3)) << "past an idle one";
  sync.Advanced(true, At(0));
  EXPECT_EQ(sync.TakeReleased(idle), kIterationMax);
}

TEST_F(SyncStateTest, AnotherModelForgetsAndAnotherReleaseDoesNot) {
  const SyncPolicy before = PolicyOf("ssp:2"), softer = PolicyOf("ssp:2,release=soft"),
                   other = PolicyOf("ssp:3");
  SyncState sync(before, true, 1);
  sync.Load("remembered");
  sync.Follow(softer, true, 1);
  EXPECT_EQ(sync.memory(), "remembered");
  sync.Follow(other, true, 1);
  EXPECT_EQ(sync.memory(), "");
}

TEST_F(SyncStateTest, IdleMarksHoldWhileMembersStepInTheSameOrder) {
  const SyncPolicy bsp = PolicyOf("bsp"), drop = PolicyOf("drop:1");
  SyncState sync(bsp, true, 1);
  EXPECT_TRUE(sync.KeepsOrder(progress));
  sync.Follow(drop, true, 1);
  EXPECT_FALSE(sync.KeepsOrder(progress)) << "workers leave iterations out";
}

}  // namespace
}  // namespace leeway
