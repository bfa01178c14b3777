#include "node/scheduler/job_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.h"
#include "node/testing/fake_env.h"

namespace leeway {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class JobEndTest : public ::testing::Test {
 protected:
  static SchedulerOptions Options() {
    SchedulerOptions options;
    options.link.hello_timeout = seconds(2);
    options.expel_after = seconds(10);
    return options;
  }

  testing::FakeEnv world;
  bool shards_done = false;
  std::vector<Status> closed;
  JobEnd end{world.env, Options(), [this] { return shards_done; },
             [this](const Status& outcome) { closed.push_back(outcome); }};
};

TEST_F(JobEndTest, AGoodEndWaitsForShardsThatDoNotKnowUntilTheyAreGivenUp) {
  end.Begin(Status::Ok());
  end.Linger(true);
  world.Advance(seconds(9));
  EXPECT_THAT(closed, IsEmpty());
  world.Advance(seconds(1));
  EXPECT_THAT(closed, SizeIs(1));
}

TEST_F(JobEndTest, AFailedJobLingersForPeersAloneAndEndsWhenTheLastIsGone) {
  end.Begin(Unavailable("all died"));
  end.Linger(false);
  world.Advance(seconds(1));
  end.OnGone(false);
  EXPECT_THAT(closed, IsEmpty());
  end.OnGone(true);
  ASSERT_THAT(closed, SizeIs(1));
  EXPECT_EQ(closed[0].message(), "all died");
  world.Advance(seconds(30));
  EXPECT_THAT(closed, SizeIs(1)) << "once";
}

TEST_F(JobEndTest, WhenEverybodyKnowsItEndsAtOnce) {
  shards_done = true;
  end.Begin(Status::Ok());
  end.Linger(true);
  world.Advance(Duration::zero());
  EXPECT_THAT(closed, SizeIs(1));
}

TEST_F(JobEndTest, ItLingersOnceItIsInTheLog) {
  shards_done = true;
  end.OnWritten(true);
  EXPECT_FALSE(end.lingers()) << "the job goes on";
  end.Begin(Status::Ok());
  EXPECT_FALSE(end.lingers());
  end.OnWritten(true);
  EXPECT_TRUE(end.lingers());
  world.Advance(Duration::zero());
  end.OnWritten(true);
  world.Advance(seconds(30));
  EXPECT_THAT(closed, SizeIs(1)) << "once";
}

TEST_F(JobEndTest, HurriedItEndsAfterTheCallUnderWay) {
  end.Begin(Status::Ok());
  end.Linger(false);
  end.EndSoon();
  EXPECT_THAT(closed, IsEmpty());
  world.Advance(Duration::zero());
  EXPECT_THAT(closed, SizeIs(1));
}

TEST_F(JobEndTest, AnEndThatTheLogTellsOfWaitsForShardsThoughTheJobFailed) {
  end.Begin(Unavailable("all died"));
  wire::pb::LoggedJob logged;
  end.AddTo(logged);
  JobEnd again{world.env, Options(), [this] { return shards_done; },
               [this](const Status& outcome) { closed.push_back(outcome); }};
  again.Apply(logged);
  EXPECT_TRUE(again.over());
  EXPECT_EQ(again.Message().message(), "all died");
  again.Linger(true);
  world.Advance(seconds(4));
  EXPECT_THAT(closed, IsEmpty()) << "nobody knows whom the scheduler before has told";
  shards_done = true;
  again.OnGone(true);
  EXPECT_THAT(closed, SizeIs(1));
}

}  // namespace
}  // namespace leeway
