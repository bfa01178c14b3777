#include "node/scheduler/checkpoint_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/scheduler/testing/hand_fed_job.h"

namespace leeway {
namespace {

using std::chrono::seconds;
using ::testing::Contains;
using testing::HandFedActions;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class CheckpointWriterTest : public ::testing::Test {
 protected:
  static CheckpointOptions Options() {
    CheckpointOptions options;
    options.folder = "/c";
    options.limit = seconds(60);
    return options;
  }
  void SetUp() override {
    job.Define("t");
    writer.checkpoints().Start(1, Iteration(0), world.clock.now);
  }
  [[nodiscard]] CutJob Now() const {
    return {job.options, Epoch(2), fastest, job.members, job.tables, pools, ended, lacking, reports};
  }
  void Ask() {
    writer.Request([this](const CheckpointOutcome& outcome) { outcomes.push_back(outcome); });
    writer.Review(Now(), true);
  }
  std::vector<wire::pb::Cut> Cuts(ConnectionId to) {
    return actions.Take<wire::pb::Cut>(to, wire::Kind::kCut);
  }
  void Write(std::uint32_t shard) {
    wire::pb::CutReply reply;
    reply.set_checkpoint(writer.checkpoints().cut().checkpoint());
    reply.set_file("shard-" + std::to_string(shard));
    world.storage.files[writer.checkpoints().cut().folder() + "/" + reply.file()];
    for (const wire::pb::Block& block : job.tables.all()[0].map.blocks()) {
      if (block.shard() == shard) reply.add_blocks()->set_block(block.block());
    }
    writer.TakeCutReply(Now(), job.members.shards()[shard], reply);
  }
  void GiveNoState(std::uint32_t rank) {
    wire::pb::RankState state;
    state.set_checkpoint(writer.checkpoints().cut().checkpoint());
    state.set_none(true);
    writer.TakeRankState(Now(), job.members.workers()[rank], state);
  }

  testing::FakeEnv world;
  testing::HandFedJob job;
  HandFedActions actions{2};
  BatchPools pools;
  EndedLives ended;
  HeldPushes::Lacking lacking;
  Reports reports;
  Iteration fastest{3};
  int begun = 0, next = 0;
  std::vector<std::string> calls_when_whole;
  std::vector<Manifest> whole;
  std::vector<CheckpointOutcome> outcomes;
  CheckpointWriter writer{world.env,
                          Options(),
                          2,
                          job.sync,
                          actions,
                          {.begun = [this] { ++begun; },
                           .whole =
                               [this](const Manifest& manifest, const std::string& folder) {
                                 whole.push_back(manifest);
                                 EXPECT_EQ(folder, writer.checkpoints().cut().folder());
                                 calls_when_whole = world.storage.calls;
                               },
                           .next =
                               [this] {
                                 ++next;
                                 EXPECT_FALSE(writer.checkpoints().under_way());
                               }}};
};

TEST_F(CheckpointWriterTest, OneIsWholeWhenShardsAndWorkersHaveAnsweredAndItsManifestIsThere) {
  Ask();
  EXPECT_EQ(begun, 1);
  EXPECT_THAT(Cuts(HandFedActions::Shard(1)), SizeIs(1));
  EXPECT_THAT(Cuts(HandFedActions::Worker(1)), SizeIs(1));
  Write(0);
  Write(1);
  GiveNoState(0);
  EXPECT_FALSE(writer.checkpoints().publishing()) << "worker 1 may still write";
  GiveNoState(1);
  EXPECT_TRUE(writer.checkpoints().publishing());
  EXPECT_THAT(whole, IsEmpty());
  world.storage.RunAll();
  ASSERT_THAT(whole, SizeIs(1));
  EXPECT_TRUE(whole[0].consistent);
  EXPECT_EQ(whole[0].begins, std::vector<Iteration>(2, whole[0].iteration));
  ASSERT_THAT(outcomes, SizeIs(1));
  EXPECT_TRUE(outcomes[0].status.ok());
  EXPECT_EQ(outcomes[0].folder, "/c/checkpoint-00000001");
  EXPECT_TRUE(world.storage.files.contains("/c/checkpoint-00000001/manifest.json"));
}

TEST_F(CheckpointWriterTest, ItsOwnerHearsThatOneIsWholeBeforeOlderOnesAreRemoved) {
  Ask();
  Write(0);
  Write(1);
  GiveNoState(0);
  GiveNoState(1);
  world.storage.RunAll();
  ASSERT_THAT(whole, SizeIs(1));
  EXPECT_EQ(next, 1);
  EXPECT_THAT(calls_when_whole, Not(Contains("list /c")));
  EXPECT_THAT(world.storage.calls, Contains("list /c"));
}

TEST_F(CheckpointWriterTest, WithoutTheFolderNoneIsBegun) {
  writer.Request(ConnectionId(300), nullptr);
  writer.Review(Now(), false);
  EXPECT_EQ(begun, 0);
}

TEST_F(CheckpointWriterTest, OneThatTakesTooLongIsGivenUpWithWhoIsMissing) {
  Ask();
  Write(0);
  GiveNoState(0);
  writer.Review(Now(), true);
  world.Advance(seconds(60));
  writer.Review(Now(), true);
  ASSERT_THAT(outcomes, SizeIs(1));
  EXPECT_THAT(outcomes[0].status.message(), HasSubstr("missing server 1 shard 0, the state of worker 1"));
  EXPECT_EQ(writer.checkpoints().given_up(), 1U);
  EXPECT_THAT(world.storage.calls, Contains(HasSubstr("remove /c/checkpoint-00000001")));
}

TEST_F(CheckpointWriterTest, WhileADeadWorkersPushesAreNotKnownItIsNotPublished) {
  Ask();
  ended.Add({WorkerId(1), Incarnation(1)}, Iteration(0), Iteration(0));
  Write(0);
  Write(1);
  GiveNoState(0);
  GiveNoState(1);
  EXPECT_FALSE(writer.checkpoints().publishing());
  (void)ended.Settle({WorkerId(1), Incarnation(1)});
  writer.PublishIfWhole(Now());
  EXPECT_TRUE(writer.checkpoints().publishing());
}

TEST_F(CheckpointWriterTest, ACutThatAShardHasPassedIsNamedAgainFurtherAhead) {
  Ask();
  const std::int64_t first = writer.checkpoints().cut().iteration();
  wire::pb::CutReply late;
  late.set_checkpoint(1);
  late.set_late(20);
  writer.TakeCutReply(Now(), job.members.shards()[0], late);
  EXPECT_EQ(begun, 2);
  EXPECT_GT(writer.checkpoints().cut().iteration(), std::max<std::int64_t>(first, 20));
  EXPECT_THAT(outcomes, IsEmpty()) << "whoever asked waits for the next one";
}

TEST_F(CheckpointWriterTest, AServerThatIsReplacedEndsOneThatWorkersHaveComeTo) {
  Ask();
  writer.OnReplaced(job.members.shards()[1], Iteration(100));
  ASSERT_THAT(outcomes, SizeIs(1));
  EXPECT_THAT(outcomes[0].status.message(), HasSubstr("server 1 shard 0 was replaced"));
}

TEST_F(CheckpointWriterTest, AtTheEndOfTheJobAllWhoAskedHearSo) {
  Ask();
  writer.Stop();
  ASSERT_THAT(outcomes, SizeIs(1));
  EXPECT_THAT(outcomes[0].status.message(), HasSubstr("the job ended before the checkpoint was whole"));
}

}  // namespace
}  // namespace leeway
