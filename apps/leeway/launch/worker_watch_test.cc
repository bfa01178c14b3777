#include "launch/worker_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch/testing/fake_control.h"
#include "system/process_look.h"

namespace leeway::app {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WorkerWatchTest : public ::testing::Test {
 protected:
  WorkerWatchTest() {
    options.scheduler.job.workers = 2;
    options.scheduler.on_worker_loss = OnWorkerLoss::kShrink;
    now.at = SteadyClock::time_point(std::chrono::hours(1));
    now.begun = true;
    now.status = &status;
  }
  WorkerWatch& Begin() {
    watch.emplace(options, "LEEWAY_SCHEDULER=s", control);
    for (std::uint32_t rank = 0; rank < 2; ++rank) watch->Start(rank, LifeBegan::kStart);
    control.acts.clear();
    return *watch;
  }
  void End(std::uint32_t rank, const ProcessEnd& end) {
    control.running.erase({JobRole::kWorker, rank});
    watch->OnEnded(rank, end, now);
  }
  static WorkerStatus Worker(std::uint32_t rank, std::uint64_t incarnation, const std::string& state) {
    WorkerStatus worker;
    worker.rank = rank;
    worker.incarnation = incarnation;
    worker.state = state;
    worker.host = OwnHostName();
    worker.pid = 0x7fffffff;  // beyond the ids of processes
    return worker;
  }
  void Pass(int ms) {
    now.at += milliseconds(ms);
    watch->OnTime(now);
  }

  LaunchOptions options;
  FakeControl control;
  JobStatus status;
  JobNow now;
  std::optional<WorkerWatch> watch;
};

TEST_F(WorkerWatchTest, AnErrorOfAScriptEndsTheJobWithItsExitCode) {
  const WorkerWatch& workers = Begin();
  End(1, {3, 0});
  EXPECT_THAT(control.acts, ElementsAre("script failed 3: worker 1 ended with exit code 3"));
  EXPECT_EQ(workers.failed_rank(), 1U);
  EXPECT_TRUE(workers.script_failed());
}

TEST_F(WorkerWatchTest, ALostWorkerIsStartedAgainAfterItsBackOff) {
  options.restart.restarts = 1;
  const WorkerWatch& workers = Begin();
  End(0, kSigkilled);
  EXPECT_THAT(control.said, ElementsAre(HasSubstr("starting it again in 500ms (restart 1 of 1)")));
  EXPECT_FALSE(workers.NoneLeft());
  Pass(499);
  EXPECT_THAT(control.acts, IsEmpty());
  Pass(1);
  EXPECT_THAT(control.acts, ElementsAre("start worker 0"));
  EXPECT_EQ(workers.lives().RestartsOf(0), 1U);
}

TEST_F(WorkerWatchTest, ARestartIsForgottenWithTheScheduler) {
  options.restart.restarts = 1;
  Begin();
  End(0, kSigkilled);
  watch->DropDue();
  Pass(1'000);
  EXPECT_THAT(control.acts, IsEmpty());
}

TEST_F(WorkerWatchTest, TheJobGoesOnWithoutAWorkerUntilItWasTheLastOne) {
  Begin();
  End(0, kSigkilled);
  EXPECT_THAT(control.said, ElementsAre(HasSubstr("the job goes on without it")));
  EXPECT_THAT(control.failures, IsEmpty());
  End(1, kSigkilled);
  ASSERT_EQ(control.failures.size(), 1U);
  EXPECT_THAT(control.failures[0].why, HasSubstr("worker 1 ended with exit code 137"));
  EXPECT_THAT(control.failures[0].why, HasSubstr("all workers are lost; the last one, worker 1"));
  EXPECT_EQ(control.failures[0].exit_code, 137);
}

TEST_F(WorkerWatchTest, ThePlaceOfALostWorkerIsKeptAndTheUserToldHowToTakeIt) {
  options.scheduler.on_worker_loss = OnWorkerLoss::kWait;
  Begin();
  End(1, kSigkilled);
  EXPECT_THAT(control.said, ElementsAre(HasSubstr("(LEEWAY_SCHEDULER=s LEEWAY_RANK=1 starts another)")));
}

TEST_F(WorkerWatchTest, ALossWhileTheJobGathersWaitsForNewsAndThenFailsIt) {
  now.begun = false;
  const WorkerWatch& workers = Begin();
  End(0, kSigkilled);
  EXPECT_TRUE(workers.IsUndecided());
  Pass(999);
  EXPECT_THAT(control.failures, IsEmpty());
  Pass(1);
  ASSERT_EQ(control.failures.size(), 1U);
  EXPECT_THAT(control.failures[0].why, HasSubstr("before the job had begun"));
  EXPECT_FALSE(workers.IsUndecided());
}

TEST_F(WorkerWatchTest, AnExitCodeOf128AndAboveWaitsForTheRoleThatCausedIt) {
  options.scheduler.on_worker_loss = OnWorkerLoss::kFail;
  const WorkerWatch& workers = Begin();
  End(0, {130, 0});
  EXPECT_TRUE(workers.IsUndecided());
  control.failures.push_back({1, "the scheduler", now.at, true});
  Pass(2'000);
  EXPECT_FALSE(workers.IsUndecided());
  EXPECT_EQ(control.failures.size(), 1U) << "the worker's loss only follows from the scheduler's end";
}

TEST_F(WorkerWatchTest, ARestartedWorkerThatCannotJoinAFinishedJobIsLateAndNoFailure) {
  options.restart.restarts = 1;
  const WorkerWatch& workers = Begin();
  status.workers = {Worker(0, 1, "dead")};
  End(0, kSigkilled);
  Pass(500);
  End(1, {0, 0});
  End(0, {ExitCode({StatusCode::kFailedPrecondition, ""}), 0});
  EXPECT_EQ(workers.lives().CountNow(LifeEnd::kLate), 1U);
  EXPECT_FALSE(workers.script_failed());
  EXPECT_EQ(control.said.back(), "worker 0 came back when the job was over");
}

TEST_F(WorkerWatchTest, AWorkerThatIsNoMemberIsKilledAWhileAfterTheJobHasEnded) {
  Begin();
  End(0, {0, 0});
  now.job_done = true;
  status.workers = {Worker(1, 1, "joined")};
  Pass(5'000);
  EXPECT_THAT(control.acts, IsEmpty()) << "a member may have more to do";
  status.workers[0].state = "dead";
  Pass(0);
  Pass(1'999);
  EXPECT_THAT(control.acts, IsEmpty());
  Pass(1);
  EXPECT_THAT(control.acts, ElementsAre("kill worker 1"));
}

TEST_F(WorkerWatchTest, TheSchedulerIsToldOfLivesThatEndedWithTheirProcesses) {
  const WorkerWatch& workers = Begin();
  End(0, kSigkilled);
  status.workers = {Worker(0, 4, "joined"), Worker(1, 4, "joined")};
  EXPECT_THAT(workers.EndedLives(status), ElementsAre(WorkerLife{0, 4}));
  status.workers[0].host = "elsewhere";
  EXPECT_THAT(workers.EndedLives(status), IsEmpty());
}

}  // namespace
}  // namespace leeway::app
