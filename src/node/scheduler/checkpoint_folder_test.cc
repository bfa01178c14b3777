#include "node/scheduler/checkpoint_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.h"
#include "node/scheduler/testing/hand_fed_job.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class CheckpointFolderTest : public ::testing::Test {
 protected:
  void Open(bool resume = true) {
    folder = std::make_unique<CheckpointFolder>(world.env, options);
    folder->Open(resume, {.resume =
                              [this](const Manifest& manifest) {
                                steps.push_back("resume " + std::to_string(manifest.checkpoint));
                                return refusal;
                              },
                          .number =
                              [this](const Result<std::uint64_t>& next) {
                                steps.push_back("number " + std::to_string(next.ok() ? *next : 0));
                              },
                          .ready = [this] { steps.emplace_back("ready"); },
                          .failed = [this](const Status& why) { failures.push_back(why); }});
  }

  testing::FakeEnv world;
  testing::HandFedJob job;
  CheckpointOptions options;
  Status refusal;
  std::vector<std::string> steps;
  std::vector<Status> failures;
  std::unique_ptr<CheckpointFolder> folder;
};

TEST_F(CheckpointFolderTest, WithoutFoldersItIsReadyAtOnce) {
  Open();
  EXPECT_THAT(steps, ElementsAre("ready"));
  EXPECT_FALSE(folder->taken());
}

TEST_F(CheckpointFolderTest, TheFolderIsTakenBeforeTheCheckpointToBeginFromIsRead) {
  options.folder = "/c";
  options.resume = "/c/checkpoint-00000004";
  job.WriteCheckpoint(world.storage, options.resume, 4);
  Open();
  EXPECT_THAT(steps, IsEmpty());
  world.storage.RunAll();
  EXPECT_THAT(steps, ElementsAre("resume 4", "number 5", "ready"));
  EXPECT_TRUE(folder->taken());
}

TEST_F(CheckpointFolderTest, AJobThatGoesOnFromItsLogDoesNotResumeAgain) {
  options.resume = "/c/checkpoint-00000004";
  Open(false);
  EXPECT_THAT(steps, ElementsAre("ready"));
}

TEST_F(CheckpointFolderTest, ACheckpointThatTheJobCannotTakeEndsIt) {
  options.resume = "/c/checkpoint-00000004";
  job.WriteCheckpoint(world.storage, options.resume, 4);
  refusal = FailedPrecondition("of another job");
  Open();
  world.storage.RunAll();
  ASSERT_THAT(failures, SizeIs(1));
  EXPECT_THAT(failures[0].message(), HasSubstr("the checkpoint to begin from"));
  EXPECT_THAT(steps, ElementsAre("resume 4"));
}

TEST_F(CheckpointFolderTest, AfterStopNoStepIsTaken) {
  options.folder = "/c";
  Open();
  folder->Stop();
  world.storage.RunAll();
  EXPECT_THAT(steps, IsEmpty());
  EXPECT_THAT(world.storage.calls, SizeIs(1)) << "the lock alone";
}

}  // namespace
}  // namespace leeway
