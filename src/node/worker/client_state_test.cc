#include "node/worker/client_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/errors.h"
#include "node/testing/fake_env.h"

namespace leeway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kFile = "/c/checkpoint-00000007/rank-002.3.state";

class ClientStateTest : public ::testing::Test {
 protected:
  static wire::pb::Cut Cut(std::uint64_t checkpoint, std::int64_t iteration) {
    wire::pb::Cut cut;
    cut.set_checkpoint(checkpoint);
    cut.set_folder("/c/checkpoint-00000007");
    cut.set_iteration(iteration);
    cut.set_exact(iteration > 0);
    return cut;
  }
  static WorkerOptions Options(bool keeps_state) {
    WorkerOptions options;
    options.job = "j";
    options.keeps_state = keeps_state;
    options.link.give_up_after = std::chrono::seconds(10);
    return options;
  }
  static WorkerIdentity Self() {
    WorkerIdentity self;
    self.worker = WorkerId(2);
    self.incarnation = Incarnation(3);
    return self;
  }
  ClientState::Events Events() {
    return {.answer = [this](const wire::pb::RankState& answer) { answers.push_back(answer); },
            .settled = [this] { return settled; },
            .decided = [this] { ++decided; },
            .wanted = [this](Iteration from) { wanted.push_back(from); }};
  }
  void Ask(std::uint64_t checkpoint, std::int64_t iteration, std::int64_t now) {
    state.OnCut(Cut(checkpoint, iteration), Self(), Iteration(now));
  }
  void Give(std::int64_t now, std::size_t bytes = 5) {
    state.Give(Iteration(now), std::make_shared<const std::vector<std::byte>>(bytes, std::byte{7}));
  }
  void RunAll() {
    while (world.compute.Step() || world.storage.Step()) {
    }
  }
  // Written, so that it can be read.
  wire::pb::RankRestore Written() {
    Ask(7, 20, 5);
    Give(20);
    RunAll();
    wire::pb::RankRestore restore;
    restore.set_file(kFile);
    restore.set_bytes(answers.back().bytes());
    restore.set_checksum(answers.back().checksum());
    return restore;
  }
  Status Read(const wire::pb::RankRestore& from, WorkerId rank = WorkerId(2)) {
    std::optional<Status> outcome;
    state.Read(from, rank, [&](const Status& read) { outcome = read; });
    RunAll();
    return outcome.value_or(Internal("no answer"));
  }

  FakeEnv world;
  std::vector<wire::pb::RankState> answers;
  std::vector<Iteration> wanted;
  Iteration settled = kIterationMax;
  int decided = 0;
  ClientState state{world.env, Options(true), Events()};
};

TEST_F(ClientStateTest, AClientWithoutAStateAnswersAtOnce) {
  ClientState none{world.env, Options(false), Events()};
  none.OnCut(Cut(7, 20), Self(), Iteration(5));
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_TRUE(answers[0].none());
  EXPECT_FALSE(none.IsWanted(Iteration(20)));
}

TEST_F(ClientStateTest, AnEmptyStateIsNone) {
  Ask(7, 20, 5);
  Give(20, 0);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_TRUE(answers[0].none());
  EXPECT_EQ(wanted.back(), kIterationMax);
}

TEST_F(ClientStateTest, TheStateIsWrittenSyncedAndAnswered) {
  Ask(7, 20, 5);
  EXPECT_THAT(wanted, ElementsAre(Iteration(20)));
  EXPECT_FALSE(state.IsWanted(Iteration(19)));
  EXPECT_TRUE(state.IsWanted(Iteration(20)));
  Give(19);
  EXPECT_EQ(world.compute.pending(), 0U) << "not yet wanted";
  Give(20);
  EXPECT_FALSE(state.IsWanted(Iteration(20)));
  EXPECT_EQ(wanted.back(), kIterationMax);
  EXPECT_THAT(answers, IsEmpty());
  RunAll();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].checkpoint(), 7U);
  EXPECT_EQ(answers[0].file(), "rank-002.3.state");
  EXPECT_EQ(answers[0].iteration(), 20);
  EXPECT_THAT(world.storage.calls, ElementsAre("create " + std::string(kFile), "sync " + std::string(kFile)));
  const Result<RankFile> file = DecodeRankFile(world.storage.files.at(kFile));
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(file->head, (RankFileHead{"j", 7, WorkerId(2), Incarnation(3), Iteration(20)}));
  EXPECT_EQ(file->checksum, answers[0].checksum());
  EXPECT_EQ(world.storage.files.at(kFile).size(), answers[0].bytes());
}

TEST_F(ClientStateTest, AskedAgainItWritesOnceAndAnswersAgain) {
  Ask(7, 20, 5);
  Ask(7, 20, 6);
  Give(20);
  Ask(7, 20, 20);
  RunAll();
  ASSERT_EQ(answers.size(), 1U);
  Ask(7, 20, 25);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[1].checksum(), answers[0].checksum());
  EXPECT_EQ(world.storage.calls.size(), 2U);
}

TEST_F(ClientStateTest, OneThatThisWorkerHasPassedIsLate) {
  Ask(7, 20, 21);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].late(), 21);
  Ask(8, 30, 30);  // it may be, or not
  ASSERT_EQ(answers.size(), 1U);
  Give(31);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[1].late(), 31);
  EXPECT_EQ(world.compute.pending(), 0U) << "nothing is written of it";
}

TEST_F(ClientStateTest, OneThatLeavesWhereTheCutIsHasPassedIt) {
  Ask(7, 20, 19);
  state.Leave(Iteration(20));
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].late(), 20);
  Ask(8, 20, 20);
  EXPECT_EQ(answers.at(1).late(), 20);
  Ask(9, 21, 20);
  EXPECT_TRUE(answers.at(2).none()) << "it will not come there";
}

TEST_F(ClientStateTest, WithoutAnIterationTheNextPauseBetweenTwoWillDo) {
  Ask(7, 0, 100);
  EXPECT_TRUE(state.IsWanted(Iteration(101)));
  Give(101);
  RunAll();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].iteration(), 101);
}

TEST_F(ClientStateTest, ANewCheckpointEndsTheOneUnderWay) {
  Ask(7, 20, 5);
  Give(20);
  Ask(8, 22, 20);
  EXPECT_EQ(wanted.back(), Iteration(22));
  RunAll();
  EXPECT_THAT(answers, IsEmpty());
  Give(22);
  RunAll();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].checkpoint(), 8U);
}

TEST_F(ClientStateTest, WhatCannotBeWrittenIsAnError) {
  Ask(7, 20, 5);
  Give(20);
  world.storage.failure = ResourceExhausted("no room left");
  RunAll();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].error(), "no room left");
  EXPECT_TRUE(answers[0].file().empty());
}

TEST_F(ClientStateTest, WhatItGaveIsReadAgain) {
  const wire::pb::RankRestore from = Written();
  const Status read = Read(from);
  ASSERT_TRUE(read.ok()) << read.ToString();
  EXPECT_EQ(*state.restored(), std::vector<std::byte>(5, std::byte{7}));
}

TEST_F(ClientStateTest, AFileThatIsMissingDamagedOrOfAnotherIsNamed) {
  const wire::pb::RankRestore from = Written();
  const std::vector<std::byte> good = world.storage.files.at(kFile);
  EXPECT_THAT(Read(from, WorkerId(1)).message(), HasSubstr("got the state of rank 2"));
  world.storage.files[kFile].push_back(std::byte{0});
  EXPECT_THAT(Read(from).message(), HasSubstr(kFile));
  world.storage.files[kFile] = good;
  world.storage.files[kFile][60] ^= std::byte{1};
  EXPECT_THAT(Read(from).message(),
              HasSubstr("the state of rank 2 in the checkpoint: " + std::string(kFile) + ": got checksum"));
  world.storage.files[kFile] = good;
  wire::pb::RankRestore other = from;
  other.set_checksum(1);
  EXPECT_THAT(Read(other).message(), HasSubstr("it is of another checkpoint"));
  world.storage.files.clear();
  EXPECT_THAT(Read(from).message(), HasSubstr(kFile));
  EXPECT_EQ(state.restored(), nullptr);
}

TEST_F(ClientStateTest, WhatIsAnsweredAfterItsEndHarmsNothing) {
  std::optional<ClientState> gone;
  gone.emplace(world.env, Options(true), Events());
  gone->OnCut(Cut(7, 0), Self(), Iteration(1));
  gone->Give(Iteration(2), std::make_shared<const std::vector<std::byte>>(5));
  world.compute.Step();
  gone.reset();
  RunAll();
  EXPECT_THAT(answers, IsEmpty());
}

TEST_F(ClientStateTest, AStateOfACutAtOnceIsToldOnceThePushesBeforeItHaveVerdicts) {
  Ask(7, 0, 3);
  settled = Iteration(2);
  Give(4);
  RunAll();
  EXPECT_EQ(decided, 1) << "it is written";
  EXPECT_THAT(answers, IsEmpty());
  settled = Iteration(4);
  state.AnswerIfSettled();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].iteration(), 4);
  state.AnswerIfSettled();
  EXPECT_EQ(answers.size(), 1U) << "once";
}

TEST_F(ClientStateTest, AStateHoldsUpTheFinishUntilItIsWrittenButNotForLongerThanAPeer) {
  EXPECT_FALSE(state.HoldsUpFinish());
  Ask(7, 20, 5);
  Give(20);
  EXPECT_TRUE(state.HoldsUpFinish());
  world.Advance(std::chrono::seconds(10));
  EXPECT_FALSE(state.HoldsUpFinish()) << "the disk does not answer";
  Ask(8, 30, 20);
  Give(30);
  EXPECT_TRUE(state.HoldsUpFinish());
  RunAll();
  EXPECT_FALSE(state.HoldsUpFinish());
}

TEST_F(ClientStateTest, AStateIsBeingReadUntilItIsHereOrRefused) {
  const wire::pb::RankRestore from = Written();
  for (const WorkerId rank : {WorkerId(2), WorkerId(3)}) {
    bool done = false;
    state.Read(from, rank, [&](const Status&) {
      done = true;
      EXPECT_FALSE(state.reading());
    });
    EXPECT_TRUE(state.reading());
    RunAll();
    EXPECT_TRUE(done);
  }
}

}  // namespace
}  // namespace leeway::testing
