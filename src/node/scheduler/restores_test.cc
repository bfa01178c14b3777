#include "node/scheduler/restores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/scheduler/testing/hand_fed_job.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RestoresTest : public ::testing::Test {
 protected:
  void Find(std::vector<std::string> folders) {
    restores.Find(std::move(folders), [this] { ++found; });
    world.storage.RunAll();
  }
  [[nodiscard]] std::string Lost() const {
    return restores.LostServer(job.members.shards()[1], "is gone").message();
  }

  testing::FakeEnv world;
  testing::HandFedJob job;
  Restores restores{world.env, OnServerLoss::kPatch};
  int found = 0;
};

TEST_F(RestoresTest, TheNewestThatIsThereIsFound) {
  job.WriteCheckpoint(world.storage, "/c/2", 2);
  job.WriteCheckpoint(world.storage, "/c/1", 1);
  Find({"/c/3", "/c/2", "/c/1"});
  EXPECT_EQ(found, 1);
  ASSERT_TRUE(restores.last());
  EXPECT_EQ(restores.last()->manifest.checkpoint, 2U);
  EXPECT_TRUE(restores.last()->of_this_run);
  EXPECT_THAT(world.log.lines, ::testing::IsEmpty()) << "one that is not there was given up or pruned";
  EXPECT_THAT(Lost(), HasSubstr("server 1 shard 0 at box:1 is gone; resume from /c/2"));
}

TEST_F(RestoresTest, WithoutOneOfItsOwnTheOneThatTheJobBeganFromIsRead) {
  wire::pb::LoggedJob logged;
  logged.set_resumed_from("/old/7");
  restores.Apply(logged);
  job.WriteCheckpoint(world.storage, "/old/7", 7);
  Find({"/c/1"});
  ASSERT_TRUE(restores.last());
  EXPECT_FALSE(restores.last()->of_this_run);
  wire::pb::LoggedJob again;
  restores.AddTo(again);
  EXPECT_EQ(again.resumed_from(), "/old/7");
}

TEST_F(RestoresTest, OneThatCannotBeReadIsNamedUntilAnotherIsWhole) {
  world.storage.files["/c/2/manifest.json"] = std::vector<std::byte>(3);
  Find({"/c/2"});
  EXPECT_EQ(found, 1);
  EXPECT_THAT(Lost(), HasSubstr("the last checkpoint could not be read: /c/2"));
  EXPECT_FALSE(restores.MayReplace(false)) << "it holds values that an empty block would not have";
  restores.OnWhole(Manifest(), "/c/3");
  EXPECT_THAT(Lost(), HasSubstr("resume from /c/3"));
  EXPECT_THAT(Lost(), ::testing::Not(HasSubstr("could not be read")));
}

TEST_F(RestoresTest, WithoutACheckpointAServerIsReplacedUntilSomebodyHasTrained) {
  EXPECT_TRUE(restores.MayReplace(false));
  EXPECT_FALSE(restores.MayReplace(true));
  restores.OnWhole(Manifest(), "/c/1");
  EXPECT_TRUE(restores.MayReplace(true));
  EXPECT_FALSE(Restores(world.env, OnServerLoss::kFail).MayReplace(false));
}

TEST_F(RestoresTest, AfterStopNothingIsFound) {
  job.WriteCheckpoint(world.storage, "/c/1", 1);
  restores.Find({"/c/1"}, [this] { ++found; });
  restores.Stop();
  world.storage.RunAll();
  EXPECT_EQ(found, 0);
}

}  // namespace
}  // namespace leeway
