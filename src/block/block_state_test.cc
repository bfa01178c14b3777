// A block that was loaded from the state of another goes on exactly as that one does.
#include "block/block_state.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "block/testing/hand_fed_block.h"

namespace leeway {
namespace {

struct Case {
  const char* sync;
  const char* apply;
  const char* optimizer;
};

// One random event of a run: the same bits feed two blocks alike.
void Feed(HandFedBlock& block, std::uint64_t bits, std::vector<std::int64_t>& next) {
  const auto worker = static_cast<std::uint32_t>(bits % 3);
  const std::int64_t iteration = next[worker];
  if (iteration > block->v_train().value() + 1) return;  // within the window
  ++next[worker];
  if (bits / 3 % 5 == 0) return block.Absent(worker, iteration);
  const auto value = static_cast<float>(UnitInterval(Mix64(bits)));
  block.Push(worker, iteration, {value, 1.0F - value});
  if (bits / 15 % 4 == 0) block.PushSeq(worker, 1 + bits % 3, iteration);  // an old one comes again
}

class BlockStateTest : public ::testing::TestWithParam<Case> {};

TEST(BlockSlotsTest, BeginAsTheOptimizerSays) {
  for (const auto& [optimizer, wanted] :
       {std::pair("adagrad:initial=0.75", 0.75F), std::pair("momentum", 0.0F)}) {
    HandFedBlock block({.optimizer = optimizer, .elements = 3});
    block.Begin(1);
    const BlockState state = block->Save();
    ASSERT_EQ(state.slots.size(), 1U);
    for (const float value : state.slots[0]->floats()) EXPECT_EQ(value, wanted) << optimizer;
  }
}

TEST_P(BlockStateTest, ALoadedBlockGoesOnAsTheOneThatWasSaved) {
  const auto options = [] {
    return HandFedOptions{
        .sync = GetParam().sync, .apply = GetParam().apply, .optimizer = GetParam().optimizer};
  };
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const std::uint64_t cut = 5 + seed % 30;
    HandFedBlock saved(options());
    saved.Begin(3);
    std::vector<std::int64_t> next(3, 0);
    for (std::uint64_t i = 0; i < cut; ++i) Feed(saved, Hash64({seed, i}), next);
    const BlockState state = saved->Save();
    HandFedBlock loaded(options());
    loaded->Load(state);
    loaded.ContinueFrom(saved);
    // A change of one block must not show in the other: their pinned parts are the same memory.
    std::vector<std::int64_t> again = next;
    for (std::uint64_t i = cut; i < cut + 20; ++i) Feed(saved, Hash64({seed, i}), next);
    saved.Forget();
    saved.Pull(0, 0);
    const std::vector<std::string> wanted = saved.Heard();
    for (std::uint64_t i = cut; i < cut + 20; ++i) Feed(loaded, Hash64({seed, i}), again);
    loaded.Forget();
    loaded.Pull(0, 0);
    ASSERT_EQ(loaded.Heard(), wanted) << "seed " << seed;
    ASSERT_EQ(loaded.values(), saved.values()) << "seed " << seed;
    ASSERT_EQ(loaded->v_train(), saved->v_train());
    ASSERT_EQ(loaded->Save().ledger, saved->Save().ledger);
    ASSERT_EQ(loaded->Save().progress, saved->Save().progress);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Modes, BlockStateTest,
    ::testing::Values(Case{"bsp", "aggregate", "sum"}, Case{"bsp", "aggregate:reduce=ordered", "adam"},
                      Case{"bsp", "aggregate", "momentum"}, Case{"asp", "immediate", "adam"},
                      Case{"ssp:1", "immediate", "momentum"}, Case{"dsps:0,3,2", "immediate", "sum"},
                      Case{"dssp:1,3", "immediate", "sum"}, Case{"psp:2,0", "aggregate", "sum"},
                      Case{"psp:2,0,ahead=sum", "aggregate", "sum"}));

// Worker 0 is three times as fast as worker 1, and asks for values wherever `sync` lets it, up to progress
// `until`.
void RunApart(HandFedBlock& block, std::int64_t until) {
  block.Begin(2);
  for (std::int64_t i = 0; i <= until; ++i) {
    block.now_ns += 10;
    block.Push(0, i);
    block.Pull(0, i);
    if (i % 3 == 2) block.Push(1, i / 3);
  }
}

TEST(LoadedMemoryTest, WhatAModelHasFoundOutOfThePacesHoldsInTheLoadedBlock) {
  struct Remembering {
    const char* sync;
    std::int64_t until;
  };
  // After progress 8 v_train is 3: dsps has found s = 2, so a pull for 4 is within it though no pace is known
  // yet. After progress 4 v_train is 1, and dssp has given leave beyond lo.
  for (const Remembering& c : {Remembering{"dsps:0,3,10", 8}, Remembering{"dssp:1,4", 4}}) {
    HandFedBlock saved({.sync = c.sync});
    RunApart(saved, c.until);
    const BlockState state = saved->Save();
    ASSERT_FALSE(state.memory.empty()) << c.sync;
    HandFedBlock loaded({.sync = c.sync});
    loaded->Load(state);
    loaded.ContinueFrom(saved);
    EXPECT_EQ(loaded->Save().memory, state.memory) << c.sync;
    saved.Forget();
    for (std::int64_t progress = state.progress.v_train.value(); progress <= c.until; ++progress) {
      saved.Pull(0, progress);
      loaded.Pull(0, progress);
    }
    const std::vector<std::string> answers = loaded.Heard();
    EXPECT_FALSE(answers.empty()) << c.sync << " without its memory would let it wait";
    EXPECT_EQ(answers, saved.Heard()) << c.sync;
  }
}

TEST(RebasedStateTest, ItBeginsWithNobodyAndKeepsOldLivesOut) {
  HandFedBlock before;
  before.Begin(2);
  for (const std::uint32_t worker : {0U, 1U}) before.Push(worker, 0);
  before.Push(0, 1);
  BlockState state = before->Save();
  ASSERT_EQ(state.sums.size(), 1U);
  state.Rebase(Iteration(1));
  HandFedBlock after;
  after->Load(state);
  after.Join(0, 0, 2).Join(1, 0, 2).Roster();
  EXPECT_EQ(after.values(), before.values());
  after.PushSeq(0, 3, 1);
  EXPECT_EQ(after.Heard(), std::vector<std::string>{"FENCED 0#3 v1"});
  after.Push(0, 1, {}, 2);
  after.Push(1, 1, {}, 2);
  EXPECT_EQ(after.Heard(), (std::vector<std::string>{"SUMMED 0'2#1 v1", "SUMMED 1'2#1 v2"}));
}

TEST(EndedLivesStateTest, EachRankGoesOnAfterItsOwnPushesAndAllCountInN) {
  HandFedBlock before({.sync = "asp", .apply = "immediate"});
  before.Begin(2);
  for (const std::int64_t i : {0, 1, 2, 3}) before.Push(0, i);
  before.Push(1, 0);
  BlockState state = before->Save();
  state.EndLives();
  HandFedBlock after({.sync = "asp", .apply = "immediate"});
  after->Load(state);
  after.Join(0, 4, 2).Join(1, 1, 2).Roster();
  EXPECT_EQ(after.values(), before.values());
  EXPECT_EQ(after->v_train(), Iteration(1)) << "rank 1 is not told to do iteration 0 again";
  EXPECT_EQ(after->FirstOf(WorkerId(0)), Iteration(4));
  EXPECT_EQ(after->FirstOf(WorkerId(1)), Iteration(1));
  EXPECT_EQ(after->progress().MembersAt(Iteration(1)), 2U) << "what rank 0 gave before counts";
  after.Push(1, 1, {}, 2);
  EXPECT_EQ(after->v_train(), Iteration(2));
}

TEST(NotifyAtTest, SaysSoWhenTheIterationBeginsEvenIfAStridePassesIt) {
  HandFedBlock block;
  block.Begin(2);
  block->NotifyAt(Iteration(3));
  block.Absent(0, 7);
  EXPECT_EQ(block.Heard(), std::vector<std::string>{"ABSENT 0#1 v0"});
  block.Absent(1, 7);
  EXPECT_EQ(block.Heard(), (std::vector<std::string>{"REACHED v3", "ABSENT 1#1 v8"}));
  block->NotifyAt(Iteration(8));
  EXPECT_EQ(block.Heard(), std::vector<std::string>{"REACHED v8"});
}

}  // namespace
}  // namespace leeway
