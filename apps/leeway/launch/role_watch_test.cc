#include "launch/role_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch/testing/fake_control.h"

namespace leeway::app {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RoleWatchTest : public ::testing::Test {
 protected:
  RoleWatchTest() {
    now.at = SteadyClock::time_point(std::chrono::hours(1));
    roles.Start(JobRole::kScheduler, 0, now.at);
    roles.Start(JobRole::kServer, 0, now.at);
    control.acts.clear();
    Pass(10'000);
  }
  void End(JobRole role, const ProcessEnd& end) {
    control.running.erase({role, 0});
    roles.OnEnded({role, 0, end}, now);
  }
  void Pass(int ms) {
    now.at += milliseconds(ms);
    roles.OnTime(now);
  }
  void TakeStatus(std::int64_t iteration) {
    status.workers.resize(1);
    status.workers[0].iteration = iteration;
    now.status = &status;
    now.status_at = now.at;
  }

  LaunchOptions options;
  JobCheckpoints checkpoints{CheckpointOptions()};
  FakeControl control;
  RoleWatch roles{options, checkpoints, "/no/such/file", control};
  JobStatus status;
  JobNow now;
};

TEST_F(RoleWatchTest, ASchedulerThatEndsWellEndsTheJob) {
  End(JobRole::kScheduler, {0, 0});
  EXPECT_TRUE(roles.job_done());
  EXPECT_TRUE(roles.scheduler_done());
  EXPECT_THAT(control.failures, IsEmpty());
}

TEST_F(RoleWatchTest, AKilledSchedulerIsStartedAgainAfterItsBackOff) {
  End(JobRole::kScheduler, kSigkilled);
  EXPECT_TRUE(roles.HasPending());
  EXPECT_THAT(control.said, ElementsAre(HasSubstr("starting it again in 200ms (restart 1 of 100)")));
  Pass(199);
  EXPECT_THAT(control.acts, IsEmpty());
  Pass(1);
  EXPECT_THAT(control.acts, ElementsAre("start scheduler"));
  EXPECT_FALSE(roles.HasPending());
}

TEST_F(RoleWatchTest, ASchedulerThatEndsWithAnErrorFailsTheJobInItsOwnWords) {
  control.last_words = "port 7 is taken";
  End(JobRole::kScheduler, {1, 0});
  EXPECT_TRUE(roles.scheduler_done());
  EXPECT_EQ(roles.role_lost(), "") << "another try would not help";
  ASSERT_EQ(control.failures.size(), 1U);
  EXPECT_EQ(control.failures[0].why, "scheduler ended with exit code 1: port 7 is taken");
  EXPECT_EQ(control.failures[0].act_at, now.at + kCauseFirst);
  EXPECT_TRUE(control.failures[0].of_role);
}

TEST_F(RoleWatchTest, AServerIsStartedAgainBeforeAnyWorkerHasTrained) {
  End(JobRole::kServer, kSigkilled);
  Pass(1);
  EXPECT_THAT(control.said, IsEmpty()) << "the last status is older than the loss";
  TakeStatus(0);
  Pass(0);
  EXPECT_THAT(control.said, ElementsAre(HasSubstr("starting it again")));
  Pass(200);
  EXPECT_THAT(control.acts, ElementsAre("start server 0"));
}

TEST_F(RoleWatchTest, WithoutACheckpointTheLossOfATrainedServerFailsTheJob) {
  TakeStatus(5);
  status.tables.resize(1);
  End(JobRole::kServer, kSigkilled);
  Pass(1'499);
  EXPECT_TRUE(roles.IsUndecided());
  Pass(1);
  ASSERT_EQ(control.failures.size(), 1U);
  EXPECT_THAT(control.failures[0].why, HasSubstr("there is no checkpoint to restore its blocks from"));
  EXPECT_EQ(control.failures[0].act_at, now.at) << "it has waited already";
  EXPECT_EQ(roles.role_lost(), control.failures[0].why);
  EXPECT_TRUE(roles.lacked_checkpoint());
}

TEST_F(RoleWatchTest, AServerThatNoWorkerNeedsAnyMoreIsNoLoss) {
  End(JobRole::kServer, kSigkilled);
  now.served = true;
  Pass(1);
  EXPECT_TRUE(roles.server_gone());
  EXPECT_THAT(control.failures, IsEmpty());
  EXPECT_THAT(control.said, ElementsAre(HasSubstr("the job needs it no more")));
}

TEST_F(RoleWatchTest, AServerThatTheSchedulerGaveUpIsKilledOnceItHadTimeToStart) {
  options.scheduler.expel_after = milliseconds(20'000);
  TakeStatus(1);
  status.shards = {{.shard = 0, .server = 0, .state = "lost"}};
  Pass(14'999);
  EXPECT_THAT(control.acts, IsEmpty());
  Pass(1);
  EXPECT_THAT(control.acts, ElementsAre("kill server 0"));
  Pass(1'000);
  EXPECT_EQ(control.acts.size(), 1U) << "its end is on its way";
}

TEST_F(RoleWatchTest, AnInterruptedJobLosesItsSchedulerWithoutAFailure) {
  now.interrupting = true;
  End(JobRole::kScheduler, {5, 0});
  EXPECT_TRUE(roles.scheduler_done());
  EXPECT_FALSE(roles.job_done());
  EXPECT_THAT(control.failures, IsEmpty());
}

}  // namespace
}  // namespace leeway::app
