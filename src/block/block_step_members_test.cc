// The N of lr/N and d/N, read off the values: every gradient is 1 and lr is 1, so a step is 1/N or d/N.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "block/testing/hand_fed_block.h"

namespace leeway {
namespace {

class BlockStepMembersTest : public ::testing::Test {
 protected:
  static HandFedOptions With(const char* sync, const char* apply = "") {
    return {.sync = sync, .apply = apply, .optimizer = "sgd", .elements = 1};
  }
  // By how much this moves the value.
  template <typename Act>
  static float Moved(HandFedBlock& block, Act&& act) {
    const float before = block.values()[0];
    act();
    return before - block.values()[0];
  }
  static float PushMoves(HandFedBlock& block, std::uint32_t worker, std::int64_t iteration) {
    return Moved(block, [&] { block.Push(worker, iteration); });
  }
};

TEST_F(BlockStepMembersTest, AStragglerStepsAsOneOfAllWhenTheOthersHaveFinished) {
  HandFedBlock block(With("ssp:3"));
  block.Begin(4);
  for (std::uint32_t w = 0; w < 4; ++w) EXPECT_FLOAT_EQ(PushMoves(block, w, 0), 0.25F) << w;
  block.Finish(0).Finish(1).Finish(2).Roster();
  for (std::int64_t i = 1; i < 5; ++i) {
    EXPECT_FLOAT_EQ(PushMoves(block, 3, i), 0.25F) << i;
    EXPECT_EQ(block->v_train(), Iteration(i + 1)) << "nobody waits for those that have finished";
  }
}

TEST_F(BlockStepMembersTest, WhenOthersDieOrHandTheirWorkOverTheRestTakesTheWholeStep) {
  HandFedBlock block(With("ssp:3"));
  block.Begin(4);
  for (std::uint32_t w = 0; w < 4; ++w) block.Push(w, 0);
  block.Leave(0).Leave(1).Roster();
  EXPECT_FLOAT_EQ(PushMoves(block, 2, 1), 0.5F);
  EXPECT_FLOAT_EQ(PushMoves(block, 3, 1), 0.5F);
}

TEST_F(BlockStepMembersTest, TheMembersAreThoseOfTheGradientsOwnIteration) {
  HandFedBlock block(With("asp"));
  block.Begin(4);
  block.Push(3, 0);
  for (std::int64_t i = 0; i < 3; ++i) block.Push(0, i);
  block.Leave(0).Roster();  // dead, and counts up to iteration 2
  ASSERT_EQ(block->v_train(), Iteration(0));
  EXPECT_FLOAT_EQ(PushMoves(block, 1, 2), 0.25F);
  EXPECT_FLOAT_EQ(PushMoves(block, 1, 3), 1.0F / 3) << "ahead of v_train, after its last";
  block.Join(4, 5).Roster();
  EXPECT_FLOAT_EQ(PushMoves(block, 1, 4), 1.0F / 3) << "before the joiner's first";
  EXPECT_FLOAT_EQ(PushMoves(block, 1, 5), 0.25F) << "and from it on";
  EXPECT_FLOAT_EQ(PushMoves(block, 4, 6), 0.25F);
  EXPECT_FLOAT_EQ(PushMoves(block, 2, 0), 0.25F) << "one behind all of them";
}

TEST_F(BlockStepMembersTest, ALatePushStepsAsOneOfThoseThatWereMembersThen) {
  HandFedBlock block(With("drop:2,late=apply", "immediate"));
  block.Begin(4);
  for (std::int64_t i = 0; i < 4; ++i) {
    block.Push(0, i);
    block.Push(1, i);
  }
  ASSERT_EQ(block->v_train(), Iteration(4));
  block.Leave(1).Roster();
  block.Join(5, 5).Roster();
  block.Push(0, 4);
  block.Push(2, 4);
  ASSERT_EQ(block->v_train(), Iteration(5));
  EXPECT_FLOAT_EQ(PushMoves(block, 3, 3), 0.25F) << "with worker 1, which is dead, and without worker 5";
  EXPECT_FLOAT_EQ(PushMoves(block, 3, 4), 1.0F / 3);
  EXPECT_FLOAT_EQ(PushMoves(block, 5, 5), 0.25F);
}

TEST_F(BlockStepMembersTest, AggregateScalesByContributorsOverAllThatTheJobHadData) {
  for (const char* sync : {"bsp", "drop:3", "psp:3,0", "ssp:2"}) {
    HandFedBlock block(With(sync, "aggregate:window=4"));
    block.Begin(4);
    for (std::uint32_t w = 0; w < 4; ++w) block.Push(w, 0);
    const std::int64_t next = block->v_train().value();
    EXPECT_LE(next, 1) << sync;
    block.Finish(0).Finish(1).Roster();
    const std::int64_t i = block->v_train().value();
    const float moved = Moved(block, [&] {
      block.Push(2, i);
      block.Push(3, i);
    });
    EXPECT_FLOAT_EQ(moved, 0.5F) << sync << ": the mean of two, times 2 / 4";
    EXPECT_EQ(block->v_train(), Iteration(i + 1)) << sync;
  }
}

TEST_F(BlockStepMembersTest, AFinishedWorkerThatComesBackIsOneMember) {
  HandFedBlock block(With("ssp:3"));
  block.Begin(2);
  for (std::uint32_t w = 0; w < 2; ++w) block.Push(w, 0);
  block.Finish(0).Roster();
  EXPECT_FLOAT_EQ(PushMoves(block, 1, 1), 0.5F);
  block.Join(0, 3, 2).Roster();
  block.Push(1, 2);
  EXPECT_FLOAT_EQ(PushMoves(block, 1, 3), 0.5F);
  EXPECT_FLOAT_EQ(Moved(block, [&] { block.Push(0, 3, {}, 2); }), 0.5F);
  block.Leave(0, 2).Roster();
  EXPECT_FLOAT_EQ(PushMoves(block, 1, 4), 1.0F) << "its second life died";
}

TEST_F(BlockStepMembersTest, ABlockThatWasLoadedDividesByTheSame) {
  for (const bool finished_before : {false, true}) {
    HandFedBlock saved(With("ssp:3"));
    saved.Begin(4);
    for (std::uint32_t w = 0; w < 4; ++w) saved.Push(w, 0);
    saved.Leave(1);  // dead
    if (finished_before) saved.Finish(0).Roster();
    const BlockState state = saved->Save();
    HandFedBlock loaded(With("ssp:3"));
    loaded->Load(state);
    if (!finished_before) saved.Finish(0).Roster();
    loaded.ContinueFrom(saved);
    loaded.Roster();  // the same once more counts nobody twice
    EXPECT_FLOAT_EQ(PushMoves(loaded, 3, 1), 1.0F / 3) << finished_before;
    EXPECT_FLOAT_EQ(PushMoves(loaded, 3, 2), 1.0F / 3) << finished_before;
  }
}

TEST_F(BlockStepMembersTest, ABlockThatIsMadeLaterCountsThoseThatHadFinished) {
  HandFedBlock block(With("ssp:3"));
  for (std::uint32_t w = 0; w < 4; ++w) block.Join(w, 0);
  block.Finish(0).Finish(1).Roster();
  block.Init({0}, 2);
  EXPECT_FLOAT_EQ(PushMoves(block, 2, 0), 0.25F);
}

}  // namespace
}  // namespace leeway
