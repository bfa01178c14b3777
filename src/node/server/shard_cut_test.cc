// A shard's part of a checkpoint, while its blocks are switched. The pushes in a block when the shard saves
// it say whether the cut is exact.
#include "node/server/shard_cut.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/layout.h"
#include "node/server/testing/hand_fed_blocks.h"
#include "node/server/testing/hand_fed_server.h"

namespace leeway::testing {
namespace {

class ShardCutTest : public HandFedServer {
 protected:
  // Values in blocks 1 and 3, and two workers.
  void Begin(const std::string& sync_spec) {
    SetUpTable(sync_spec);
    w0 = HelloWorker(0);
    w1 = HelloWorker(1);
    for (const std::uint32_t block : {1U, 3U}) Init(w0, 0, block, {0, 0});
  }
  void SwitchTo(const std::string& sync_spec) {
    wire::pb::TableMap map = Map(sync_spec, 4, 2);
    map.set_epoch(++epoch);
    SendMap(map);
  }
  void Send(std::uint32_t rank, std::int64_t iteration) {
    const auto seq = static_cast<std::uint64_t>(iteration) + 1;
    ASSERT_TRUE(
        Push(rank == 0 ? w0 : w1, rank, iteration, {Entry(1, seq, 2), Entry(3, seq, 2)}, {1, 1, 1, 1}).ok());
  }
  void SendCut(std::int64_t iteration, std::uint64_t checkpoint = 1) {
    wire::pb::Cut cut;
    cut.set_checkpoint(checkpoint);
    cut.set_folder("/c/" + CheckpointName(checkpoint));
    cut.set_iteration(iteration);
    ASSERT_TRUE(world.transport.DeliverControl(scheduler, Kind::kCut, cut).ok());
  }
  // REQUIRES: the cut is whole by now.
  wire::pb::CutReply Reply() {
    do {
      world.storage.RunAll();
      world.compute.RunAll();
    } while (world.storage.pending() > 0);
    const auto replies = world.transport.TakeSent(scheduler, Kind::kCutReply);
    EXPECT_EQ(replies.size(), 1U);
    return replies.empty() ? wire::pb::CutReply() : ParseAs<wire::pb::CutReply>(replies[0]);
  }

  ConnectionId w0, w1;
  std::uint64_t epoch = 5;
};

TEST_F(ShardCutTest, UnderAggregateItIsTheSameForAll) {
  Begin("bsp");
  SendCut(1);
  Send(0, 0);
  Send(1, 0);
  const wire::pb::CutReply reply = Reply();
  EXPECT_EQ(reply.error(), "");
  EXPECT_FALSE(reply.fuzzy());
  ASSERT_EQ(reply.blocks_size(), 2);
  EXPECT_EQ(reply.blocks(0).v_train(), 1);
}

TEST_F(ShardCutTest, ASwitchToImmediateWhileItIsOpenMakesItFuzzy) {
  Begin("bsp");
  SendCut(1);
  SwitchTo("asp");
  Send(0, 0);
  Send(0, 1);  // in the values at once, and of the cut's own iteration
  Send(1, 0);
  EXPECT_TRUE(Reply().fuzzy());
  EXPECT_EQ(Values(1), (std::vector<float>{3, 3}));
}

TEST_F(ShardCutTest, BackAgainDoesNotUndoWhatWasTakenInMeanwhile) {
  Begin("bsp");
  SendCut(1);
  SwitchTo("asp");
  Send(0, 0);
  Send(0, 1);
  SwitchTo("bsp");
  Send(1, 0);
  EXPECT_TRUE(Reply().fuzzy());
}

TEST_F(ShardCutTest, ASwitchBackBeforeAnybodyIsSoFarLeavesItTheSameForAll) {
  Begin("asp");
  Send(0, 0);
  Send(0, 1);
  Send(1, 0);
  SwitchTo("bsp");
  SendCut(3);
  Send(1, 1);
  for (const std::uint32_t rank : {0U, 1U}) Send(rank, 2);
  const wire::pb::CutReply reply = Reply();
  EXPECT_FALSE(reply.fuzzy());
  EXPECT_EQ(reply.blocks(0).v_train(), 3);
}

TEST_F(ShardCutTest, WhereLaterGradientsAreAddedToTheOpenIterationItIsFuzzy) {
  Begin("psp:2,50,ahead=sum");
  SendCut(1);
  Send(0, 0);
  Send(0, 1);
  EXPECT_TRUE(Reply().fuzzy());
}

TEST_F(ShardCutTest, AFileThatIsThereAlreadyIsNotWrittenInto) {
  Begin("bsp");
  const std::string file = "/c/checkpoint-00000001/shard-001.lwc";
  world.storage.files[file].resize(3);
  SendCut(0);
  EXPECT_THAT(Reply().error(), ::testing::HasSubstr(file));
  EXPECT_EQ(world.storage.files[file].size(), 3U);
}

TEST_F(ShardCutTest, WhatACheckpointThatWasEndedByTheNextHasWrittenIsRemoved) {
  Begin("bsp");
  SendCut(0);
  ASSERT_TRUE(world.storage.Step());  // the file is there, its records are not
  ASSERT_EQ(world.storage.files.size(), 1U);
  SendCut(0, 2);
  EXPECT_EQ(Reply().checkpoint(), 2U);
  ASSERT_EQ(world.storage.files.size(), 1U);
  EXPECT_EQ(world.storage.files.begin()->first, "/c/checkpoint-00000002/shard-001.lwc");
}

TEST_F(ShardCutTest, AFileThatIsMadeAfterItsCheckpointWasEndedIsRemovedToo) {
  Begin("bsp");
  SendCut(0);
  SendCut(0, 2);  // before the disk has done anything
  EXPECT_EQ(Reply().checkpoint(), 2U);
  ASSERT_EQ(world.storage.files.size(), 1U);
  EXPECT_EQ(world.storage.files.begin()->first, "/c/checkpoint-00000002/shard-001.lwc");
}

TEST(DeferredCutTest, OfTwoThatWaitTheLaterOneBeginsAndOnlyOnce) {
  FakeEnv world;
  HandFedBlocks blocks(world);
  blocks.Make("asp", 1);
  std::vector<std::uint64_t> replies;
  ShardCut cut(world.env, blocks.store,
               [&](const wire::pb::CutReply& reply) { replies.push_back(reply.checkpoint()); });
  cut.BeginDeferred("j", ShardId(0));
  for (const std::uint64_t checkpoint : {2U, 3U}) {
    wire::pb::Cut said;
    said.set_checkpoint(checkpoint);
    said.set_soon(true);
    cut.Defer(said);
  }
  EXPECT_TRUE(replies.empty());
  cut.BeginDeferred("j", ShardId(0));
  cut.BeginDeferred("j", ShardId(0));
  EXPECT_THAT(replies, ::testing::ElementsAre(3)) << "at once: its block has no values";
}

}  // namespace
}  // namespace leeway::testing
