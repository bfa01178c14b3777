// A shard that reads its blocks from a checkpoint, in the place of one that died.
#include <gmock/gmock.h>

#include "checkpoint/layout.h"
#include "node/server/testing/hand_fed_server.h"

namespace leeway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ServerRestoreTest : public HandFedServer {
 protected:
  void SendCut(std::uint64_t checkpoint, std::int64_t iteration) {
    wire::pb::Cut cut;
    cut.set_checkpoint(checkpoint);
    cut.set_folder("/c/" + CheckpointName(checkpoint));
    cut.set_iteration(iteration);
    ASSERT_TRUE(world.transport.DeliverControl(scheduler, Kind::kCut, cut).ok());
  }
  void RunAll() {
    do {
      world.storage.RunAll();
      world.compute.RunAll();
    } while (world.storage.pending() > 0);
  }
  std::vector<wire::pb::CutReply> Replies() {
    std::vector<wire::pb::CutReply> replies;
    for (const SentFrame& frame : world.transport.TakeSent(scheduler, Kind::kCutReply))
      replies.push_back(ParseAs<wire::pb::CutReply>(frame));
    return replies;
  }
  // Writes checkpoint 1 with blocks 1 and 3. Returns the map with which another process takes them over.
  wire::pb::TableMap DieAfterACheckpoint() {
    SetUpTable("bsp", 1);
    const ConnectionId worker = HelloWorker(0);
    Init(worker, 0, 1, {1, 2});
    Init(worker, 0, 3, {3, 4});
    SendCut(1, 0);
    RunAll();
    const auto replies = Replies();
    EXPECT_EQ(replies.size(), 1U);
    wire::pb::TableMap map = Map("bsp", 4, 2);
    for (const wire::pb::CutBlock& written : replies.at(0).blocks()) {
      wire::pb::Block& block = *map.mutable_tables(0)->mutable_blocks(static_cast<int>(written.block()));
      block.set_term(2);
      block.set_since(2);
      wire::pb::Restore& restore = *block.mutable_restore();
      restore.set_file(JoinPath("/c/" + CheckpointName(1), replies.at(0).file()));
      restore.set_offset(written.offset());
      restore.set_bytes(written.bytes());
      restore.set_checksum(written.checksum());
      restore.set_v_train(written.v_train());
      restore.set_term(written.term());
      restore.set_patch(true);
    }
    node.reset();
    HandFedServer::SetUp();
    return map;
  }
};

TEST_F(ServerRestoreTest, ACutWaitsForTheBlocksThatAreBeingRead) {
  const wire::pb::TableMap map = DieAfterACheckpoint();
  SendRoster(1, 1);
  SendMap(map);
  SendCut(2, 0);
  EXPECT_THAT(Replies(), IsEmpty());
  world.storage.Step();
  EXPECT_EQ(node->FindBlock(BlockId(3)), nullptr) << "the other one is still being read";
  EXPECT_THAT(Replies(), IsEmpty());
  RunAll();
  const auto replies = Replies();
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(replies[0].checkpoint(), 2U);
  EXPECT_EQ(replies[0].error(), "");
  std::vector<std::uint32_t> blocks;
  for (const wire::pb::CutBlock& block : replies[0].blocks()) blocks.push_back(block.block());
  std::ranges::sort(blocks);
  EXPECT_THAT(blocks, ElementsAre(1, 3));
  EXPECT_EQ(Values(3), (std::vector<float>{3, 4}));
}

TEST_F(ServerRestoreTest, OfTwoCutsThatWaitTheLaterOneIsTaken) {
  const wire::pb::TableMap map = DieAfterACheckpoint();
  SendRoster(1, 1);
  SendMap(map);
  SendCut(2, 0);
  SendCut(3, 0);
  RunAll();
  const auto replies = Replies();
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(replies[0].checkpoint(), 3U);
}

TEST_F(ServerRestoreTest, ARecordOfAnEarlierRunIsTakenOverWhereThisRunBegan) {
  wire::pb::TableMap map = DieAfterACheckpoint();
  for (wire::pb::Block& block : *map.mutable_tables(0)->mutable_blocks()) {
    if (!block.has_restore()) continue;
    block.mutable_restore()->set_rebase(true);
    block.mutable_restore()->set_start(7);
  }
  SendRoster(1, 1);
  SendMap(map);
  RunAll();
  ASSERT_NE(node->FindBlock(BlockId(1)), nullptr);
  EXPECT_EQ(node->FindBlock(BlockId(1))->v_train(), Iteration(7));
  EXPECT_EQ(Values(1), (std::vector<float>{1, 2}));
  // The worker is in iteration 9 by now. It says so, and the block waits for it there.
  const ConnectionId worker = HelloWorker(0);
  const wire::Resume here{WorkerId(0), Incarnation(1), {{BlockId(1), Term(2), Iteration(9)}}};
  ASSERT_TRUE(world.transport.DeliverData(worker, Kind::kResume, here).ok());
  const auto resumed = world.transport.TakeSent(worker, Kind::kResumed);
  ASSERT_EQ(resumed.size(), 1U);
  const wire::ResumedEntry entry = DecodeAs<wire::Resumed>(resumed[0]).entries.at(0);
  EXPECT_EQ(entry.block, BlockId(1));
  EXPECT_EQ(entry.term, Term(2));
  EXPECT_EQ(entry.last, Seq(0)) << "it has nothing of this life";
  EXPECT_EQ(entry.v_train, Iteration(9));
  EXPECT_EQ(node->FindBlock(BlockId(1))->v_train(), Iteration(9));
}

}  // namespace
}  // namespace leeway::testing
