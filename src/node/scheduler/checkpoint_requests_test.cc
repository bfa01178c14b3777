#include "node/scheduler/checkpoint_requests.h"

#include "node/scheduler/testing/hand_fed_scheduler.h"

namespace leeway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CheckpointRequestsTest : public HandFedScheduler {
 protected:
  void Begin(bool with_table = true) {
    options.checkpoint.folder = "/c";
    options.job.workers = 2;
    StartNode();
    world.storage.RunAll();  // finds where to go on counting
    w0 = HelloWorker(0, 100);
    w1 = HelloWorker(1, 101);
    s0 = HelloShard(0, 200);
    s1 = HelloShard(1, 201);
    AckAll(1);
    monitor = SayHello(BaseHello(wire::pb::ROLE_MONITOR, 300));
    if (!with_table) return;
    Define(w0, 1, "t", 4);
    AckAll(2);
    world.transport.sent.clear();
  }
  void Ask(std::uint64_t request, bool wait) {
    wire::pb::Checkpoint ask;
    ask.set_request(request);
    ask.set_wait(wait);
    ASSERT_TRUE(world.transport.DeliverControl(monitor, Kind::kCheckpoint, ask).ok());
  }
  std::vector<wire::pb::CheckpointReply> Replies() {
    return Take<wire::pb::CheckpointReply>(monitor, Kind::kCheckpointReply);
  }
  // Both shards have written their part of the cut that they were told of.
  void WriteAll() {
    std::uint64_t checkpoint = 0;
    for (const ConnectionId shard : {s0, s1}) {
      const auto cuts = Take<wire::pb::Cut>(shard, Kind::kCut);
      ASSERT_EQ(cuts.size(), 1U);
      wire::pb::CutReply reply;
      reply.set_checkpoint(cuts[0].checkpoint());
      reply.set_file(shard == s0 ? "shard-000.lwc" : "shard-001.lwc");
      if (shard == s0) reply.add_blocks()->set_block(0);
      world.storage.files[cuts[0].folder() + "/" + reply.file()];
      checkpoint = cuts[0].checkpoint();
      ASSERT_TRUE(world.transport.DeliverControl(shard, Kind::kCutReply, reply).ok());
    }
    NoStates(checkpoint);
  }

  ConnectionId monitor;
};

TEST_F(CheckpointRequestsTest, OneThatIsAskedForIsBegunAtOnceAndAnsweredWhenItIsWhole) {
  Begin();
  std::vector<CheckpointOutcome> called;
  Ask(7, true);
  node->RequestCheckpoint([&](const CheckpointOutcome& outcome) { called.push_back(outcome); });
  WriteAll();
  EXPECT_THAT(Replies(), IsEmpty()) << "its manifest is not there yet";
  world.storage.RunAll();
  const auto replies = Replies();
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(replies[0].request(), 7U);
  EXPECT_EQ(replies[0].error(), "");
  EXPECT_EQ(replies[0].checkpoint(), 1U);
  EXPECT_EQ(replies[0].folder(), "/c/checkpoint-00000001");
  ASSERT_EQ(called.size(), 1U);
  EXPECT_TRUE(called[0].status.ok());
  const auto state = State()["checkpoints"];
  EXPECT_EQ(state["completed"], 1);
  EXPECT_EQ(state["last"]["folder"], "/c/checkpoint-00000001");
  world.Advance(std::chrono::seconds(3));
  EXPECT_DOUBLE_EQ(State()["checkpoints"]["last"]["age_s"], 3.0);
}

TEST_F(CheckpointRequestsTest, WithoutWaitingTheAnswerSaysThatItIsAskedFor) {
  Begin();
  Ask(1, false);
  const auto replies = Replies();
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(replies[0].error() + replies[0].folder(), "");
  EXPECT_EQ(Take<wire::pb::Cut>(s0, Kind::kCut).size(), 1U);
}

TEST_F(CheckpointRequestsTest, OneThatIsGivenUpIsToldWithTheReason) {
  Begin();
  Ask(1, true);
  wire::pb::CutReply reply;
  reply.set_checkpoint(1);
  reply.set_error("disk full");
  ASSERT_TRUE(world.transport.DeliverControl(s1, Kind::kCutReply, reply).ok());
  EXPECT_THAT(Replies().at(0).error(), HasSubstr("server 1 shard 0: disk full"));
  EXPECT_EQ(State()["checkpoints"]["given_up"], 1);
}

TEST_F(CheckpointRequestsTest, WhereNoneCanBeTheAnswerComesAtOnce) {
  Begin(false);
  Ask(1, true);
  const auto early = Replies();
  EXPECT_THAT(early.at(0).error(), HasSubstr("has no tables yet"));
  EXPECT_EQ(early[0].error_code(), static_cast<std::uint32_t>(StatusCode::kNotFound)) << "worth another try";
  Define(w0, 1, "t", 4);
  AckAll(2);
  Ask(2, true);
  EXPECT_THAT(Replies(), IsEmpty());
  node->Stop(Cancelled("enough"));
  const auto last = Replies();
  ASSERT_EQ(last.size(), 1U);
  EXPECT_THAT(last[0].error(), HasSubstr("ended before"));
  Ask(3, true);
  const auto late = Replies();
  EXPECT_THAT(late.at(0).error(), HasSubstr("is over"));
  EXPECT_EQ(late[0].error_code(), static_cast<std::uint32_t>(StatusCode::kFailedPrecondition));
}

TEST_F(CheckpointRequestsTest, WithoutAFolderTheAnswerNamesTheFlag) {
  GatherAll();
  monitor = SayHello(BaseHello(wire::pb::ROLE_MONITOR, 300));
  Ask(1, true);
  const auto replies = Replies();
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_THAT(replies[0].error(), HasSubstr("--checkpoint-dir"));
  EXPECT_EQ(replies[0].error_code(), static_cast<std::uint32_t>(StatusCode::kFailedPrecondition));
}

TEST_F(CheckpointRequestsTest, WhoeverIsToldMayEndTheJobAndNothingIsBegunAfterThat) {
  options.checkpoint.every_iterations = 10;
  options.checkpoint.limit = std::chrono::seconds(5);
  Begin();
  node->RequestCheckpoint([this](const CheckpointOutcome&) { node->Stop(Cancelled("enough")); });
  wire::pb::Report report;
  report.set_iteration(100);
  ASSERT_TRUE(world.transport.DeliverControl(w0, Kind::kReport, report).ok());
  world.transport.sent.clear();
  PassTime(std::chrono::seconds(8));
  EXPECT_EQ(Take<wire::pb::JobEnd>(w0, Kind::kJobEnd).size(), 1U);
  EXPECT_THAT(Take<wire::pb::Cut>(s0, Kind::kCut), IsEmpty());
}

TEST_F(CheckpointRequestsTest, OneThatBecomesWholeAfterTheEndIsTheLast) {
  options.checkpoint.every_iterations = 10;
  Begin();
  Ask(1, true);
  (void)Take<wire::pb::Cut>(s1, Kind::kCut);
  for (const ConnectionId shard : {s0, s1}) {
    wire::pb::CutReply reply;
    reply.set_checkpoint(2);  // in place of the one that was named ahead
    reply.set_file(shard == s0 ? "shard-000.lwc" : "shard-001.lwc");
    if (shard == s0) reply.add_blocks()->set_block(0);
    world.storage.files["/c/checkpoint-00000002/" + reply.file()];
    ASSERT_TRUE(world.transport.DeliverControl(shard, Kind::kCutReply, reply).ok());
  }
  NoStates(2);
  ASSERT_GT(world.storage.pending(), 0U) << "its manifest is being written";
  node->Stop(Cancelled("enough"));
  world.transport.sent.clear();
  world.storage.RunAll();
  EXPECT_TRUE(world.storage.files.contains("/c/checkpoint-00000002/manifest.json"));
  EXPECT_THAT(Take<wire::pb::Cut>(s0, Kind::kCut), IsEmpty());
}

TEST_F(CheckpointRequestsTest, ADiskThatNeverWritesTheManifestEndsTheCheckpointNotTheJob) {
  options.checkpoint.limit = std::chrono::seconds(5);
  Begin();
  Ask(1, true);
  WriteAll();
  PassTime(std::chrono::seconds(4));
  EXPECT_THAT(Replies(), IsEmpty());
  PassTime(std::chrono::seconds(3));
  const auto replies = Replies();
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_THAT(
      replies[0].error(),
      HasSubstr("its manifest is not in /c/checkpoint-00000001 after 5.0 s: the disk does not answer"));
  EXPECT_EQ(State()["checkpoints"]["given_up"], 1);
  EXPECT_EQ(State()["phase"], "running");
  world.storage.RunAll();  // what was asked of it comes at last
  EXPECT_FALSE(world.storage.files.contains("/c/checkpoint-00000001/manifest.json"));
}

TEST_F(CheckpointRequestsTest, OnlyAMonitorMayAsk) {
  Begin();
  wire::pb::Checkpoint ask;
  (void)world.transport.DeliverControl(w0, Kind::kCheckpoint, ask);
  EXPECT_FALSE(world.transport.IsOpen(w0));
}

TEST_F(CheckpointRequestsTest, AMonitorThatWentAwayIsForgotten) {
  Begin();
  Ask(1, true);
  (void)world.transport.Lose(monitor);
  WriteAll();
  world.storage.RunAll();
  EXPECT_EQ(State()["checkpoints"]["completed"], 1);
}

}  // namespace
}  // namespace leeway::testing
