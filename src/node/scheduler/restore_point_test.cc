#include "node/scheduler/restore_point.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/scheduler/testing/hand_fed_job.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RestorePointTest : public ::testing::Test {
 protected:
  void Find(std::vector<std::string> folders) {
    restore_point.Find(std::move(folders), [this] { ++found; });
    world.storage.RunAll();
  }
  [[nodiscard]] std::string Lost() const {
    return restore_point.LostServer(job.members.shards()[1], "is gone").message();
  }

  testing::FakeEnv world;
  testing::HandFedJob job;
  RestorePoint restore_point{world.env, OnServerLoss::kPatch};
  int found = 0;
};

TEST_F(RestorePointTest, TheNewestThatIsThereIsFound) {
  job.WriteCheckpoint(world.storage, "/c/2", 2);
  job.WriteCheckpoint(world.storage, "/c/1", 1);
  Find({"/c/3", "/c/2", "/c/1"});
  EXPECT_EQ(found, 1);
  ASSERT_TRUE(restore_point.last());
  EXPECT_EQ(restore_point.last()->manifest.checkpoint, 2U);
  EXPECT_TRUE(restore_point.last()->of_this_run);
  EXPECT_THAT(world.log.lines, ::testing::IsEmpty()) << "one that is not there was given up or pruned";
  EXPECT_THAT(Lost(), HasSubstr("server 1 shard 0 at box:1 is gone; resume from /c/2"));
}

TEST_F(RestorePointTest, WithoutOneOfItsOwnTheOneThatTheJobBeganFromIsRead) {
  wire::pb::LoggedJob logged;
  logged.set_resumed_from("/old/7");
  restore_point.Apply(logged);
  job.WriteCheckpoint(world.storage, "/old/7", 7);
  Find({"/c/1"});
  ASSERT_TRUE(restore_point.last());
  EXPECT_FALSE(restore_point.last()->of_this_run);
  wire::pb::LoggedJob again;
  restore_point.AddTo(again);
  EXPECT_EQ(again.resumed_from(), "/old/7");
}

TEST_F(RestorePointTest, OneThatCannotBeReadIsNamedUntilAnotherIsWhole) {
  world.storage.files["/c/2/manifest.json"] = std::vector<std::byte>(3);
  Find({"/c/2"});
  EXPECT_EQ(found, 1);
  EXPECT_THAT(Lost(), HasSubstr("the last checkpoint could not be read: /c/2"));
  EXPECT_FALSE(restore_point.MayReplace(false)) << "it holds values that an empty block would not have";
  restore_point.OnWhole(Manifest(), "/c/3");
  EXPECT_THAT(Lost(), HasSubstr("resume from /c/3"));
  EXPECT_THAT(Lost(), ::testing::Not(HasSubstr("could not be read")));
}

TEST_F(RestorePointTest, WithoutACheckpointAServerIsReplacedUntilSomebodyHasTrained) {
  EXPECT_TRUE(restore_point.MayReplace(false));
  EXPECT_FALSE(restore_point.MayReplace(true));
  restore_point.OnWhole(Manifest(), "/c/1");
  EXPECT_TRUE(restore_point.MayReplace(true));
  EXPECT_FALSE(RestorePoint(world.env, OnServerLoss::kFail).MayReplace(false));
}

TEST_F(RestorePointTest, LivesThatEndedStayKnownWhereAServerMayBeReplacedFromACheckpoint) {
  EXPECT_FALSE(restore_point.MayPatch(false)) << "there is no checkpoint, and there will be none";
  EXPECT_TRUE(restore_point.MayPatch(true));
  restore_point.BeginFrom(Manifest(), "/old/7");
  EXPECT_TRUE(restore_point.MayPatch(false));
  EXPECT_FALSE(RestorePoint(world.env, OnServerLoss::kFail).MayPatch(true));
}

TEST_F(RestorePointTest, WhileTheFirstCheckpointIsBeingPublishedALossIsNotDecided) {
  EXPECT_TRUE(restore_point.AwaitsFirst(true));
  EXPECT_FALSE(restore_point.AwaitsFirst(false));
  EXPECT_FALSE(RestorePoint(world.env, OnServerLoss::kFail).AwaitsFirst(true));
  restore_point.OnWhole(Manifest(), "/c/1");
  EXPECT_FALSE(restore_point.AwaitsFirst(true));
}

TEST_F(RestorePointTest, TheLogSaysWhatAFuzzyCheckpointMeans) {
  Manifest manifest;
  manifest.iteration = Iteration(10);
  manifest.exact = true;
  manifest.begins = {Iteration(9), Iteration(12)};
  restore_point.BeginFrom(manifest, "/old/7");
  EXPECT_THAT(world.log.lines, ElementsAre(HasSubstr("the job goes on in iteration 10 from checkpoint")));
  manifest.exact = false;
  restore_point.BeginFrom(manifest, "/old/7");
  ASSERT_EQ(world.log.lines.size(), 3U);
  EXPECT_THAT(world.log.lines[2], HasSubstr("in iterations 9 to 12"));
}

TEST_F(RestorePointTest, AfterStopNothingIsFound) {
  job.WriteCheckpoint(world.storage, "/c/1", 1);
  restore_point.Find({"/c/1"}, [this] { ++found; });
  restore_point.Stop();
  world.storage.RunAll();
  EXPECT_EQ(found, 0);
}

}  // namespace
}  // namespace leeway
