#include "node/scheduler/checkpoints.h"

#include <gtest/gtest.h>

namespace leeway {
namespace {

using std::chrono::seconds;
using Step = Checkpoints::Step;
using enum RankStates::Moment;

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
  EXPECT_FALSE(checkpoints.IsDue(Iteration(1000), kExact, kTwelve));
}

TEST(CheckpointsTest, AfterARestartOfTheSchedulerCountsGoOn) {
  Checkpoints before(Every(50), 2);
  before.Start(1, Iteration(0), kTwelve);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(before.IsDue(Iteration(50 * i + 3), kExact, kTwelve));
    (void)before.Begin(Iteration(50 * i + 3), kExact, kTwelve);
    i < 2 ? before.Complete(Iteration(50 * (i + 1)), kTwelve) : before.GiveUp("disk full", kTwelve);
  }
  wire::pb::LogRecord record;
  ASSERT_TRUE(before.AddChanges(record));
  Checkpoints after(Every(50), 2);
  after.Apply(record);
  EXPECT_EQ(after.completed(), 2U);
  EXPECT_EQ(after.given_up(), 1U);
}

TEST(CheckpointsTest, OneEverySoManyIterationsIsNamedAhead) {
  Checkpoints checkpoints(Every(50), 2);
  checkpoints.Start(7, Iteration(0), kTwelve);
  ASSERT_TRUE(checkpoints.IsDue(Iteration(3), kExact, kTwelve));
  const wire::pb::Cut first = checkpoints.Begin(Iteration(3), kExact, kTwelve);
  EXPECT_EQ(first.checkpoint(), 7U);
  EXPECT_EQ(first.iteration(), 50);
  EXPECT_EQ(first.folder(), "/c/checkpoint-00000007");
  EXPECT_FALSE(checkpoints.IsDue(Iteration(40), kExact, kTwelve));
  EXPECT_EQ(checkpoints.Take(ShardId(0), Written(checkpoints)), Step::kWait);
  EXPECT_EQ(checkpoints.OpenFor(ShardId(0)), nullptr);
  EXPECT_NE(checkpoints.OpenFor(ShardId(1)), nullptr);
  EXPECT_EQ(checkpoints.Take(ShardId(1), Written(checkpoints)), Step::kWritten);
  checkpoints.Complete(Iteration(50), kTwelve);
  EXPECT_EQ(checkpoints.last()->iteration, Iteration(50));
  EXPECT_EQ(checkpoints.Begin(Iteration(52), kExact, kTwelve).iteration(), 100);
}

TEST(CheckpointsTest, OneThatAShardHasPassedIsNamedAgainWithMoreRoomEachTime) {
  Checkpoints checkpoints(Every(0, seconds(10)), 1);
  checkpoints.Start(1, Iteration(0), kTwelve);
  EXPECT_FALSE(checkpoints.IsDue(Iteration(100), kExact, kTwelve + seconds(9)));
  const TimePoint now = kTwelve + seconds(10);
  ASSERT_TRUE(checkpoints.IsDue(Iteration(100), kExact, now));
  EXPECT_EQ(checkpoints.Begin(Iteration(100), kExact, now).iteration(), 102);
  wire::pb::CutReply late;
  late.set_checkpoint(1);
  late.set_late(110);
  EXPECT_EQ(checkpoints.Take(ShardId(0), late), Step::kTooLate);
  EXPECT_EQ(checkpoints.Begin(Iteration(100), kExact, now).iteration(), 114);
  EXPECT_EQ(checkpoints.Take(ShardId(0), late), Step::kWait) << "said of the one before";
  late.set_checkpoint(2);
  late.set_late(120);
  EXPECT_EQ(checkpoints.Take(ShardId(0), late), Step::kTooLate);
  EXPECT_EQ(checkpoints.Begin(Iteration(100), kExact, now).iteration(), 128);
}

TEST(CheckpointsTest, OneThatIsAskedForTakesThePlaceOfOneFarAhead) {
  Checkpoints checkpoints(Every(1000), 1);
  checkpoints.Start(1, Iteration(0), kTwelve);
  (void)checkpoints.Begin(Iteration(0), kExact, kTwelve);
  EXPECT_FALSE(checkpoints.IsDue(Iteration(10), kExact, kTwelve));
  checkpoints.Ask();
  ASSERT_TRUE(checkpoints.IsDue(Iteration(10), kExact, kTwelve));
  EXPECT_EQ(checkpoints.Begin(Iteration(10), kExact, kTwelve).iteration(), 12);
  EXPECT_FALSE(checkpoints.IsDue(Iteration(10), kExact, kTwelve)) << "once";
}

TEST(CheckpointsTest, TheLimitCountsFromWhenTheWorkersHaveComeToIt) {
  Checkpoints checkpoints(Every(50), 2);
  checkpoints.Start(1, Iteration(0), kTwelve);
  (void)checkpoints.Begin(Iteration(0), kExact, kTwelve);
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
  (void)checkpoints.Begin(Iteration(0), kExact, kTwelve);
  wire::pb::CutReply failed;
  failed.set_checkpoint(1);
  failed.set_error("no room left");
  EXPECT_EQ(checkpoints.Take(ShardId(1), failed), Step::kFailed);
  EXPECT_EQ(checkpoints.last_failure(), "no room left");
}

TEST(CheckpointsTest, WhereTablesApplyAtOnceTheFastestWorkerSetsThePace) {
  Checkpoints checkpoints(Every(50), 1);
  checkpoints.Start(1, Iteration(0), kTwelve);
  EXPECT_FALSE(checkpoints.IsDue(Iteration(49), kNearby, kTwelve));
  for (const std::int64_t fastest : {50, 103, 156}) {
    EXPECT_FALSE(checkpoints.IsDue(Iteration(fastest - 1), kNearby, kTwelve)) << fastest;
    ASSERT_TRUE(checkpoints.IsDue(Iteration(fastest + 3), kNearby, kTwelve)) << fastest;
    const wire::pb::Cut cut = checkpoints.Begin(Iteration(fastest + 3), kNearby, kTwelve);
    EXPECT_TRUE(cut.soon()) << "blocks come to an iteration with the slowest worker";
    EXPECT_FALSE(checkpoints.IsDue(Iteration(fastest + 3), kNearby, kTwelve)) << "once";
    EXPECT_EQ(checkpoints.Take(ShardId(0), Written(checkpoints)), Step::kWritten);
    checkpoints.Complete(Iteration(fastest / 4), kTwelve);
    EXPECT_EQ(checkpoints.last()->iteration, Iteration(fastest / 4)) << "as in the manifest";
  }
}

TEST(CheckpointsTest, OneThatIsBegunSoonIsNotBegunAgainWhileTheFastestIsNotHeardOf) {
  Checkpoints checkpoints(Every(0), 2);
  checkpoints.Start(1, Iteration(0), kTwelve);
  checkpoints.Ask();
  (void)checkpoints.Begin(Iteration(10), kExact, kTwelve);
  wire::pb::CutReply late;
  late.set_checkpoint(1);
  late.set_late(40);
  EXPECT_EQ(checkpoints.Take(ShardId(0), late), Step::kTooLate);
  EXPECT_GT(checkpoints.Begin(Iteration(10), kExact, kTwelve).iteration(), 40);
  EXPECT_FALSE(checkpoints.IsDue(Iteration(10), kExact, kTwelve));
}

TEST(CheckpointsTest, TheManifestHasALimitOfItsOwn) {
  Checkpoints checkpoints(Every(50), 1);
  checkpoints.Start(1, Iteration(0), kTwelve);
  (void)checkpoints.Begin(Iteration(0), kExact, kTwelve);
  EXPECT_EQ(checkpoints.Take(ShardId(0), Written(checkpoints)), Step::kWritten);
  EXPECT_FALSE(checkpoints.IsOverdue(Iteration(50), kTwelve));
  checkpoints.Publish(kTwelve + seconds(50));
  checkpoints.Publish(kTwelve + seconds(55));  // again: it goes on
  EXPECT_FALSE(checkpoints.IsOverdue(Iteration(60), kTwelve + seconds(109)));
  EXPECT_TRUE(checkpoints.IsOverdue(Iteration(60), kTwelve + seconds(110)));
}

TEST(CheckpointsTest, ALogThatCountsVeryFarIsNotFollowedAllTheWay) {
  CheckpointOptions options = Every(50);
  wire::pb::LogRecord record;
  record.mutable_checkpoints()->set_first(1);
  record.mutable_checkpoints()->set_next(1'000'000);
  Checkpoints none(options, 1);
  none.Apply(record);
  EXPECT_EQ(none.Candidates().size(), Checkpoints::kCandidatesMax);
  record.mutable_checkpoints()->set_last(7);
  Checkpoints known(options, 1);
  known.Apply(record);
  const std::vector<std::string> folders = known.Candidates();
  EXPECT_EQ(folders.size(), Checkpoints::kCandidatesMax + 1);
  EXPECT_EQ(folders.front(), "/c/checkpoint-00999999");
  EXPECT_EQ(folders.back(), "/c/checkpoint-00000007")
      << "the one that is known to be whole is always looked for";
}

}  // namespace
}  // namespace leeway
