// The client's state in checkpoints, through the whole node.
#include "checkpoint/rank_file.h"
#include "node/worker/testing/worker_rig.h"

namespace leeway::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WorkerStateTest : public WorkerRig {
 protected:
  WorkerStateTest() : WorkerRig(KeepingState()) {}
  static WorkerOptions KeepingState() {
    WorkerOptions options;
    options.keeps_state = true;
    return options;
  }
  void SendCut(std::uint64_t checkpoint, std::int64_t iteration, bool exact = false) {
    wire::pb::Cut cut;
    cut.set_exact(exact);
    cut.set_checkpoint(checkpoint);
    cut.set_folder("/c");
    cut.set_iteration(iteration);
    Control(scheduler, wire::Kind::kCut, cut);
  }
  std::vector<wire::pb::RankState> Answers() {
    std::vector<wire::pb::RankState> answers;
    for (const SentFrame& frame : env.transport.TakeSent(scheduler, wire::Kind::kRankState)) {
      answers.push_back(ParseAs<wire::pb::RankState>(frame));
    }
    return answers;
  }
  void RunAll() {
    while (env.compute.Step() || env.storage.Step()) {
    }
  }
  static std::shared_ptr<const std::vector<std::byte>> Bytes(std::size_t size) {
    return std::make_shared<const std::vector<std::byte>>(size, std::byte{5});
  }
  // The roster of a job that went on from a checkpoint.
  void SendRestoringRoster(const wire::pb::RankRestore& restore) {
    wire::pb::Roster roster;
    roster.set_epoch(1);
    roster.set_gathered(true);
    wire::pb::Member* member = roster.add_members();
    member->set_worker(kRank);
    member->set_incarnation(1);
    member->set_first(20);
    *member->mutable_restore() = restore;
    for (std::uint32_t i = 0; i < 2; ++i) {
      wire::pb::Shard* line = roster.add_shards();
      line->set_shard(i);
      line->set_server(i);
      line->set_address("10.0.1." + std::to_string(i) + ":900");
    }
    Control(scheduler, wire::Kind::kRoster, roster);
  }
  // It has left, and all final values are here.
  void FinishWhileWriting() {
    StartTables();
    SendCut(4, 1);
    ASSERT_TRUE(node->Clock().ok());
    node->GiveState(Bytes(100));
    for (const auto& [on, block] : {std::pair(0, 0U), {1, 1U}, {0, 2U}}) {
      Verdict(static_cast<std::size_t>(on), block, 1, wire::Verdict::kAbsent, 1, 1);
    }
    node->Leave({});
    EXPECT_THAT(Answers(), IsEmpty());
    Left(2);
    node->Finish(Into(finished));
    SendRoster(3, {{0, true}, {kRank, true}});
    Answer(0, 0, 2, 9, {7, 7});
    Answer(0, 2, 2, 1);
    Answer(1, 1, 2, 9, {8, 8});
    Answer(1, 3, 0, 4, {6, 6});
  }
  void ConnectShards() {
    for (std::size_t i = 0; i < 2; ++i) {
      shard[i] = env.transport.connects[1 + i].first;
      env.transport.Complete(shard[i]);
      WelcomeAtShard(i);
    }
  }
  wire::pb::RankRestore PutFile() {
    const EncodedRankFile file =
        EncodeRankFile({"leeway", 3, WorkerId(kRank), Incarnation(1), Iteration(20)}, Bytes(9));
    for (const Pinned& piece : file.pieces) {
      auto& bytes = env.storage.files["/c/mine"];
      bytes.insert(bytes.end(), piece.bytes.begin(), piece.bytes.end());
    }
    wire::pb::RankRestore restore;
    restore.set_file("/c/mine");
    restore.set_bytes(file.bytes);
    restore.set_checksum(file.checksum);
    return restore;
  }

  std::optional<Status> finished;
};

TEST_F(WorkerStateTest, TheStateIsGivenAtTheBeginOfItsIterationAndWrittenMeanwhile) {
  StartTables();
  SendCut(4, 2);
  EXPECT_FALSE(node->StateWanted());
  ASSERT_TRUE(node->Clock().ok());
  EXPECT_FALSE(node->StateWanted());
  ASSERT_TRUE(node->Clock().ok());
  ASSERT_TRUE(node->StateWanted());
  node->GiveState(Bytes(100));
  EXPECT_FALSE(node->StateWanted());
  ASSERT_TRUE(node->Clock().ok()) << "training goes on";
  EXPECT_THAT(Answers(), IsEmpty());
  RunAll();
  const auto answers = Answers();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].file(), "rank-001.1.state");
  EXPECT_EQ(answers[0].iteration(), 2);
  EXPECT_TRUE(env.storage.files.contains("/c/rank-001.1.state"));
}

TEST_F(WorkerStateTest, AStateIsGivenOnlyWithWhatHasAddedUpInTheBlocks) {
  sync = "bsp";
  job.set_exchange("every:8");
  StartTables();
  const auto iterate = [this] {
    ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
    ASSERT_TRUE(node->Clock().ok());
  };
  iterate();
  SendCut(4, 1, true);
  ASSERT_EQ(Answers().at(0).late(), 1);
  SendCut(5, 3, true);
  iterate();
  EXPECT_THAT(env.transport.TakeSent(shard[0], wire::Kind::kPush), IsEmpty());
  iterate();
  EXPECT_EQ(env.transport.TakeSent(shard[0], wire::Kind::kPush).size(), 1U) << "the sum of 0, 1 and 2";
  ASSERT_TRUE(node->StateWanted());
  node->GiveState(Bytes(10));
  RunAll();
  EXPECT_EQ(Answers().at(0).iteration(), 3);
}

TEST_F(WorkerStateTest, WhereIterationsAreLeftOutAStateSaysThatASumIsInNoBlock) {
  sync = "drop:2";
  job.set_exchange("every:8");
  StartTables();
  SendCut(4, 4, false);
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  ASSERT_TRUE(node->Clock().ok());
  for (const auto& [on, block] : {std::pair(0, 0U), {1, 1U}, {0, 2U}}) {
    Verdict(static_cast<std::size_t>(on), block, 1, wire::Verdict::kAbsent, 1, 4);
  }
  ASSERT_TRUE(node->Clock().ok());
  ASSERT_EQ(node->iteration(), Iteration(4)) << "2 and 3, where the sum would have gone out, are left out";
  ASSERT_TRUE(node->StateWanted());
  node->GiveState(Bytes(10));
  RunAll();
  const std::vector<wire::pb::RankState> answers = Answers();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].iteration(), 4);
  EXPECT_TRUE(answers[0].lacks());
}

TEST_F(WorkerStateTest, WhereIterationsAreLeftOutASumGoesOutBeforeTheCutAllTheSame) {
  sync = "drop:2";
  job.set_exchange("every:8");
  StartTables();
  SendCut(4, 2, false);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
    ASSERT_TRUE(node->Clock().ok());
  }
  EXPECT_EQ(env.transport.TakeSent(shard[0], wire::Kind::kPush).size(), 1U) << "the sum of 0 and 1";
  node->GiveState(Bytes(10));
  RunAll();
  EXPECT_FALSE(Answers().at(0).lacks());
}

TEST_F(WorkerStateTest, OneThatLeavesHasNoneForWhatItDidNotReach) {
  StartTables();
  SendCut(4, 2);
  node->Leave({});
  ASSERT_EQ(Answers().at(0).none(), true);
  SendCut(5, 0);
  EXPECT_TRUE(Answers().at(0).none()) << "and for those that follow";
  EXPECT_FALSE(node->StateWanted());
}

TEST_F(WorkerStateTest, AJobIsNotFinishedWhileTheStateIsWritten) {
  FinishWhileWriting();
  EXPECT_FALSE(finished.has_value());
  EXPECT_THAT(node->WaitingFor(), HasSubstr("its state to be written"));
  RunAll();
  EXPECT_EQ(Answers().at(0).iteration(), 1);
  EXPECT_TRUE(finished.has_value() && finished->ok());
}

TEST_F(WorkerStateTest, ADiskThatDoesNotAnswerDoesNotKeepAJobFromItsEnd) {
  FinishWhileWriting();
  env.Advance(std::chrono::seconds(29));
  EXPECT_FALSE(finished.has_value());
  env.Advance(std::chrono::seconds(2));
  EXPECT_TRUE(finished.has_value() && finished->ok());
}

TEST_F(WorkerStateTest, TheJoinWaitsForTheStateOfTheCheckpoint) {
  const wire::pb::RankRestore restore = PutFile();
  BeginJoin();
  SendRestoringRoster(restore);
  ConnectShards();
  EXPECT_FALSE(joined.has_value());
  EXPECT_THAT(node->WaitingFor(), HasSubstr("its state in the checkpoint to be read"));
  RunAll();
  ASSERT_TRUE(joined.has_value() && joined->ok());
  EXPECT_EQ(*node->restored_state(), *Bytes(9));
  EXPECT_EQ(node->iteration(), Iteration(20));
}

TEST_F(WorkerStateTest, AStateThatIsDamagedOrMissingFailsTheJoinAndNamesTheFile) {
  const wire::pb::RankRestore restore = PutFile();
  env.storage.files["/c/mine"][70] ^= std::byte{4};
  BeginJoin();
  SendRestoringRoster(restore);
  RunAll();
  ASSERT_TRUE(joined.has_value());
  EXPECT_THAT(joined->message(), HasSubstr("/c/mine: got checksum"));
  EXPECT_TRUE(failed.has_value());
}

}  // namespace
}  // namespace leeway::testing
