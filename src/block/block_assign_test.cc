// Arrays that a worker sets: each counts once, and none undoes a gradient that the worker has not read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "block/testing/hand_fed_block.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;

// The next sequence number of the worker, as of the version that it reads.
AssignEvent Next(HandFedBlock& block, std::uint32_t worker, std::uint8_t array = 0, std::uint64_t steps = 0) {
  const PushEvent push = block.NextPush(worker, 0);
  return {.from = push.from,
          .term = push.term,
          .seq = push.seq,
          .base_version = block->version(),
          .steps = steps,
          .array = array};
}

std::vector<float> Slot(HandFedBlock& block, std::size_t slot) {
  const std::span<const float> floats = block->Arrays().slots.at(slot)->floats();
  return {floats.begin(), floats.end()};
}

TEST(BlockAssignTest, ValuesThatAreSetAreTheNextVersionAndNoProgress) {
  HandFedBlock block;
  block.Begin(2);
  block->OnAssign(Next(block, 0), block.Fill({3, 4}));
  EXPECT_THAT(block.Heard(), ElementsAre("APPLIED 0#1 v0"));
  EXPECT_THAT(block.values(), ElementsAre(3, 4));
  EXPECT_EQ(block->version(), Version(2));
  EXPECT_EQ(block->counters().assigned, 1U);
  EXPECT_EQ(block->counters().applied, 0U) << "it is no gradient";
  block.Push(1, 0);
  EXPECT_EQ(block->v_train(), Iteration(0)) << "worker 0 has sent nothing of iteration 0";
  block.Push(0, 0);
  EXPECT_EQ(block->v_train(), Iteration(1));
  EXPECT_THAT(block.values(), ElementsAre(5, 6)) << "the gradients of the iteration on top of what was set";
}

TEST(BlockAssignTest, WhatComesTwiceCountsOnce) {
  HandFedBlock block({.sync = "asp"});
  block.Begin(1);
  const AssignEvent assign = Next(block, 0);
  block->OnAssign(assign, block.Fill({3, 4}));
  block.Push(0, 0);
  block.Forget();
  block->OnAssign(assign, block.Fill({3, 4}));
  EXPECT_THAT(block.Heard(), ElementsAre("APPLIED 0#1 v1")) << "the verdict of the first time";
  EXPECT_THAT(block.values(), ElementsAre(4, 5)) << "the gradient since is still there";
}

TEST(BlockAssignTest, ValuesThatWouldUndoAGradientAreDropped) {
  HandFedBlock block({.sync = "asp"});
  block.Begin(2);
  const AssignEvent assign = Next(block, 0);
  block.Push(1, 0);
  block.Forget();
  block->OnAssign(assign, block.Fill({7, 7}));
  EXPECT_THAT(block.Heard(), ElementsAre("LATE_DROPPED 0#1 v0"));
  EXPECT_THAT(block.values(), ElementsAre(1, 1));
  EXPECT_EQ(block->counters().unassigned, 1U);
  EXPECT_EQ(block->counters().late_dropped, 0U) << "it is no gradient";
}

TEST(BlockAssignTest, ValuesBasedOnAVersionOfAnOwnerBeforeAreDropped) {
  HandFedBlock block({.sync = "asp"});
  block.Begin(2);
  block.Push(1, 0);
  AssignEvent assign = Next(block, 0);
  assign.base_version = block->version() + 1;
  block.Forget();
  block->OnAssign(assign, block.Fill({7, 7}));
  EXPECT_THAT(block.Heard(), ElementsAre("LATE_DROPPED 0#1 v0")) << "the owner before was ahead";
  assign = Next(block, 0);
  assign.base_version = Version(0);
  block.Forget();
  block->OnAssign(assign, block.Fill({7, 7}));
  EXPECT_THAT(block.Heard(), ElementsAre("LATE_DROPPED 0#2 v0")) << "what the worker has read is not known";
  EXPECT_THAT(block.values(), ElementsAre(1, 1));
}

TEST(BlockAssignTest, TwoWorkersMaySetTheSameVersion) {
  HandFedBlock block;
  block.Begin(2);
  const AssignEvent first = Next(block, 0), second = Next(block, 1);
  block->OnAssign(first, block.Fill({3, 4}));
  block->OnAssign(second, block.Fill({3, 4}));
  EXPECT_THAT(block.Heard(), ElementsAre("APPLIED 0#1 v0", "APPLIED 1#1 v0"));
}

TEST(BlockAssignTest, TheOptimizersStateGoesOnFromWhatWasSet) {
  HandFedBlock block({.optimizer = "momentum"});
  block.Begin(1);
  block->OnAssign(Next(block, 0, 1, 5), block.Fill({10, 20}));
  EXPECT_THAT(block.Heard(), ElementsAre("APPLIED 0#1 v0"));
  EXPECT_EQ(block->version(), Version(1)) << "the values are as they were";
  EXPECT_EQ(block->Arrays().steps, 5U);
  PushEvent push = block.NextPush(0, 0);
  push.hyper.momentum = 0.5F;
  block.Feed(push, {1, 1});
  EXPECT_THAT(Slot(block, 0), ElementsAre(6, 11)) << "not the gradient alone, as after no run";
  EXPECT_THAT(block.values(), ElementsAre(-6, -11));
  EXPECT_EQ(block->Arrays().steps, 6U);
}

TEST(BlockAssignTest, WhatDoesNotFitIsRefusedAndUsesUpItsNumber) {
  HandFedBlock block({.optimizer = "momentum"});
  block.Join(0, 0);
  block.Roster();
  block.Forget();
  block->OnAssign(Next(block, 0), block.Fill({1, 1}));  // no initial values
  block.Init({0, 0});
  block->OnAssign(Next(block, 0), block.Fill({1}));        // size
  block->OnAssign(Next(block, 0, 2), block.Fill({1, 1}));  // momentum has one array
  const float nan = std::numeric_limits<float>::quiet_NaN();
  block->OnAssign(Next(block, 0), block.Fill({nan, 1}));
  block->OnAssign(Next(block, 0, 1), block.Fill({nan, 1}));
  EXPECT_THAT(block.Heard(), ElementsAre("REFUSED 0#1 v0", "INITIALIZED 0#0 v0", "REFUSED 0#2 v0",
                                         "REFUSED 0#3 v0", "REFUSED 0#4 v0", "REFUSED 0#5 v0"));
  EXPECT_THAT(block.values(), ElementsAre(0, 0));
  EXPECT_EQ(block->Arrays().steps, 0U);
  EXPECT_EQ(block->counters().unassigned, 5U);
  EXPECT_EQ(block->counters().refused, 0U) << "no gradient was";
}

}  // namespace
}  // namespace leeway
