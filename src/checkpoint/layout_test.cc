#include "checkpoint/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LayoutTest, NamesSortAsTheyCount) {
  EXPECT_EQ(CheckpointName(12), "checkpoint-00000012");
  EXPECT_EQ(ShardFileName(ShardId(7)), "shard-007.lwc");
  EXPECT_EQ(RankFileName(WorkerId(1234), Incarnation(2)), "rank-1234.2.state");
  EXPECT_EQ(JoinPath("a/b", "c"), "a/b/c");
  EXPECT_EQ(JoinPath("/", "c"), "/c");
  EXPECT_EQ(JoinPath("", "c"), "c");
}

TEST(LayoutTest, OnlyItsOwnNamesAreCheckpoints) {
  EXPECT_EQ(CheckpointIdOf("checkpoint-00000012"), 12U);
  EXPECT_EQ(CheckpointIdOf("checkpoint-123456789"), 123456789U);
  for (const char* name :
       {"checkpoint-12", "checkpoint-000000012", "checkpoint-0000001x", "checkpoint-", "checkpoint--0000001",
        "Checkpoint-00000012", "checkpoint-00000012.old", "checkpoint-99999999999999999999", ""}) {
    EXPECT_EQ(CheckpointIdOf(name), std::nullopt) << name;
  }
}

TEST(LayoutTest, AFolderWithoutAManifestIsNoCheckpoint) {
  EXPECT_TRUE(IsComplete({{"manifest.json", 10, false}, {"shard-000.lwc", 10, false}}));
  EXPECT_FALSE(IsComplete({{"manifest.json.tmp", 10, false}, {"shard-000.lwc", 10, false}}));
  EXPECT_FALSE(IsComplete({{"manifest.json", 0, true}}));
  EXPECT_THAT(CheckpointIds({{"checkpoint-00000003", 0, true},
                             {"checkpoint-00000001", 0, true},
                             {"checkpoint-00000002", 5, false},
                             {"notes", 0, true}}),
              ElementsAre(1, 3));
}

TEST(LayoutTest, TheNewestTwoAreKept) {
  EXPECT_THAT(CheckpointsToRemove({}), IsEmpty());
  EXPECT_THAT(CheckpointsToRemove({{1, true}, {2, true}}), IsEmpty());
  EXPECT_THAT(CheckpointsToRemove({{5, true}, {1, true}, {3, true}}), ElementsAre(1));
  EXPECT_THAT(CheckpointsToRemove({{1, true}, {3, true}, {5, true}}, 0), ElementsAre(1, 3, 5));
}

TEST(LayoutTest, LeftoversGoOnceSomethingNewerIsComplete) {
  EXPECT_THAT(CheckpointsToRemove({{1, true}, {2, false}, {3, true}, {4, false}}), ElementsAre(2));
  EXPECT_THAT(CheckpointsToRemove({{1, false}, {2, false}}), IsEmpty());
  EXPECT_EQ(NewestCheckpoint({{1, true}, {2, false}}), 1U);
  EXPECT_EQ(NewestCheckpoint({{2, false}}), std::nullopt);
  EXPECT_EQ(NextCheckpointId({1, 4, 3}), 5U);
  EXPECT_EQ(NextCheckpointId({}), 1U);
}

TEST(LayoutTest, NamesInAManifestStayInTheFolder) {
  EXPECT_TRUE(IsPlainFileName("shard-000.lwc"));
  for (const std::string& name : {std::string(), std::string("."), std::string(".."), std::string("a/b"),
                                  std::string("/"), std::string("a\0b", 3)}) {
    EXPECT_FALSE(IsPlainFileName(name)) << name;
  }
}

}  // namespace
}  // namespace leeway
