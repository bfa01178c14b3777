#include "node/scheduler/checkpoints.h"

#include <gtest/gtest.h>

namespace leeway {
namespace {

using std::chrono::seconds;
using Step = Checkpoints::Step;

constexpr TimePoint kTwelve{seconds(1000)};

CheckpointOptions Every(std::uint64_t iterations, seconds time = seconds(0)) {
  CheckpointOptions options;
  options.folder = "/c";
  options.every_iterations = iterations;
  options.every = time;
  options.limit = seconds(60);
  return options;
}

wire::pb::CutReply Written(const Checkpoints& checkpoints) {
  wire::pb::CutReply reply;
  reply.set_checkpoint(checkpoints.cut().checkpoint());
  reply.set_file("f");
  return reply;
}

TEST(CheckpointsTest, WithoutAFolderNoneIsEverDue) {
  Checkpoints checkpoints({}, 2);
  checkpoints.Ask();
  EXPECT_FALSE(checkpoints.IsDue(Iteration(1000), true, kTwelve));
}

TEST(CheckpointsTest, OneEverySoManyIterationsIsNamedAhead) {
  Checkpoints checkpoints(Every(50), 2);
  checkpoints.Start(7, Iteration(0), kTwelve);
  ASSERT_TRUE(checkpoints.IsDue(Iteration(3), true, kTwelve));
  const wire::pb::Cut first = checkpoints.Begin(Iteration(3), kTwelve);
  EXPECT_EQ(first.checkpoint(), 7U);
  EXPECT_EQ(first.iteration(), 50);
  EXPECT_EQ(first.folder(), "/c/checkpoint-00000007");
  EXPECT_FALSE(checkpoints.IsDue(Iteration(40), true, kTwelve));
  EXPECT_EQ(checkpoints.Take(ShardId(0), Written(checkpoints)), Step::kWait);
  EXPECT_EQ(checkpoints.OpenFor(ShardId(0)), nullptr);
  EXPECT_NE(checkpoints.OpenFor(ShardId(1)), nullptr);
  EXPECT_EQ(checkpoints.Take(ShardId(1), Written(checkpoints)), Step::kWritten);
  checkpoints.Complete(kTwelve);
  EXPECT_EQ(checkpoints.last()->iteration, Iteration(50));
  EXPECT_EQ(checkpoints.Begin(Iteration(52), kTwelve).iteration(), 100);
}

TEST(CheckpointsTest, OneThatAShardHasPassedIsNamedAgainWithMoreRoomEachTime) {
  Checkpoints checkpoints(Every(0, seconds(10)), 1);
  checkpoints.Start(1, Iteration(0), kTwelve);
  EXPECT_FALSE(checkpoints.IsDue(Iteration(100), true, kTwelve + seconds(9)));
  const TimePoint now = kTwelve + seconds(10);
  ASSERT_TRUE(checkpoints.IsDue(Iteration(100), true, now));
  EXPECT_EQ(checkpoints.Begin(Iteration(100), now).iteration(), 102);
  wire::pb::CutReply late;
  late.set_checkpoint(1);
  late.set_late(110);
  EXPECT_EQ(checkpoints.Take(ShardId(0), late), Step::kTooLate);
  EXPECT_EQ(checkpoints.Begin(Iteration(100), now).iteration(), 114);
  EXPECT_EQ(checkpoints.Take(ShardId(0), late), Step::kWait) << "said of the one before";
  late.set_checkpoint(2);
  late.set_late(120);
  EXPECT_EQ(checkpoints.Take(ShardId(0), late), Step::kTooLate);
  EXPECT_EQ(checkpoints.Begin(Iteration(100), now).iteration(), 128);
}

TEST(CheckpointsTest, OneThatIsAskedForTakesThePlaceOfOneFarAhead) {
  Checkpoints checkpoints(Every(1000), 1);
  checkpoints.Start(1, Iteration(0), kTwelve);
  (void)checkpoints.Begin(Iteration(0), kTwelve);
  EXPECT_FALSE(checkpoints.IsDue(Iteration(10), true, kTwelve));
  checkpoints.Ask();
  ASSERT_TRUE(checkpoints.IsDue(Iteration(10), true, kTwelve));
  EXPECT_EQ(checkpoints.Begin(Iteration(10), kTwelve).iteration(), 12);
  EXPECT_FALSE(checkpoints.IsDue(Iteration(10), true, kTwelve)) << "once";
}

TEST(CheckpointsTest, TheLimitCountsFromWhenTheWorkersHaveComeToIt) {
  Checkpoints checkpoints(Every(50), 2);
  checkpoints.Start(1, Iteration(0), kTwelve);
  (void)checkpoints.Begin(Iteration(0), kTwelve);
  EXPECT_FALSE(checkpoints.IsOverdue(Iteration(20), kTwelve + seconds(500))) << "nobody is there yet";
  EXPECT_FALSE(checkpoints.IsOverdue(Iteration(50), kTwelve + seconds(501)));
  EXPECT_FALSE(checkpoints.IsOverdue(Iteration(60), kTwelve + seconds(560)));
  EXPECT_TRUE(checkpoints.IsOverdue(Iteration(60), kTwelve + seconds(561)));
  checkpoints.GiveUp("too slow", kTwelve + seconds(561));
  EXPECT_EQ(checkpoints.given_up(), 1U);
  EXPECT_FALSE(checkpoints.under_way());
}

TEST(CheckpointsTest, AShardThatCannotWriteFailsIt) {
  Checkpoints checkpoints(Every(50), 2);
  checkpoints.Start(1, Iteration(0), kTwelve);
  (void)checkpoints.Begin(Iteration(0), kTwelve);
  wire::pb::CutReply failed;
  failed.set_checkpoint(1);
  failed.set_error("no room left");
  EXPECT_EQ(checkpoints.Take(ShardId(1), failed), Step::kFailed);
  EXPECT_EQ(checkpoints.last_failure(), "no room left");
}

}  // namespace
}  // namespace leeway
