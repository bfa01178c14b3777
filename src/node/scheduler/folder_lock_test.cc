// A checkpoint folder belongs to one job at a time: what the scheduler does when another one has it.
#include "node/scheduler/folder_lock.h"

#include "node/scheduler/testing/hand_fed_scheduler.h"

namespace leeway::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kLock = "/c/checkpoints.lock";

class FolderLockTest : public HandFedScheduler {
 protected:
  void Start() {
    options.checkpoint.folder = "/c";
    StartNode();
    Settle();
  }
  void Wait(std::chrono::milliseconds time) {
    for (; time.count() > 0; time -= std::chrono::milliseconds(100)) {
      world.Advance(std::chrono::milliseconds(100));
      Settle();
    }
  }
};

TEST_F(FolderLockTest, TheFolderIsLockedBeforeAnythingInItIsLookedAt) {
  Start();
  EXPECT_THAT(world.storage.calls, ElementsAre("lock /c/checkpoints.lock", "list /c"));
  EXPECT_THAT(ended, IsEmpty());
}

TEST_F(FolderLockTest, AFolderOfAnotherJobEndsThisOneWithItsNameAndItsHolder) {
  world.storage.locked_by_others.insert(kLock);
  Start();
  EXPECT_THAT(ended, IsEmpty()) << "the one that has it may just have died";
  Wait(options.checkpoint.lock_wait + std::chrono::milliseconds(200));
  EXPECT_EQ(State()["phase"], "ended");
  Wait(std::chrono::seconds(60));
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].code(), StatusCode::kFailedPrecondition);
  EXPECT_LT(ExitCode(ended[0]), 128);
  EXPECT_THAT(ended[0].message(), AllOf(HasSubstr("the checkpoint folder /c"), HasSubstr("pid 7 on host"),
                                        HasSubstr("another --checkpoint-dir")));
  EXPECT_THAT(world.storage.calls, Not(Contains("list /c")));
  EXPECT_THAT(world.storage.files, IsEmpty());
}

TEST_F(FolderLockTest, ALockThatIsFreeInTimeIsTaken) {
  world.storage.locked_by_others.insert(kLock);
  Start();
  Wait(options.checkpoint.lock_wait / 2);
  world.storage.locked_by_others.clear();
  Wait(std::chrono::milliseconds(200));
  EXPECT_THAT(ended, IsEmpty());
  EXPECT_EQ(world.storage.calls.back(), "list /c");
}

TEST_F(FolderLockTest, WhereThereAreNoLocksTheLogSaysSoAndTheJobGoesOn) {
  world.storage.lock_failure = ResourceExhausted("its file system has no locks (flock)");
  Start();
  EXPECT_THAT(ended, IsEmpty());
  EXPECT_THAT(world.log.lines, Contains(AllOf(HasSubstr("folder /c cannot be locked"), HasSubstr("flock"))));
  EXPECT_EQ(world.storage.calls.back(), "list /c");
}

TEST_F(FolderLockTest, ACheckpointInAFolderThatAnotherJobWritesToIsNotBegunFrom) {
  world.storage.locked_by_others.insert("/other/checkpoints.lock");
  options.checkpoint.resume = "/other/checkpoint-00000003";
  Start();
  EXPECT_EQ(State()["phase"], "ended");
  Wait(std::chrono::seconds(60));
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_LT(ExitCode(ended[0]), 128);
  EXPECT_THAT(ended[0].message(),
              AllOf(HasSubstr("the checkpoint to begin from"), HasSubstr("/other"), HasSubstr("pid 7")));
  EXPECT_THAT(world.storage.calls, Not(Contains("read /other/checkpoint-00000003/manifest.json")));
}

}  // namespace
}  // namespace leeway::testing
