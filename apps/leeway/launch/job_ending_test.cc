#include "launch/job_ending.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "launch/testing/fake_control.h"

namespace leeway::app {
namespace {

using std::chrono::milliseconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class JobEndingTest : public ::testing::Test {
 protected:
  JobEndingTest() { control.running = {{JobRole::kScheduler, 0}, {JobRole::kWorker, 0}}; }
  static std::string To(const char* who, int signal) { return fmt::format("signal {} to {}", signal, who); }

  SteadyClock::time_point now{std::chrono::hours(1)};
  LaunchOptions options;
  FakeControl control;
  JobEnding ending{options, control};
};

TEST_F(JobEndingTest, AFailureOfARoleReplacesThatOfAWorkerAndNotTheOtherWayRound) {
  ending.Fail({1, "worker", now});
  ending.Fail({2, "scheduler", now, true});
  ending.Fail({3, "worker", now});
  ending.Fail({4, "server", now, true});
  EXPECT_EQ(ending.failure()->why, "scheduler");
}

TEST_F(JobEndingTest, AFailureIsDueWhenItsTimeHasComeAndWorkersHadTimeToEnd) {
  ending.Fail({2, "scheduler", now + milliseconds(10), true, now + milliseconds(50)});
  EXPECT_FALSE(ending.IsFailureDue(now + milliseconds(49)));
  EXPECT_TRUE(ending.IsFailureDue(now + milliseconds(50)));
  control.running.erase({JobRole::kWorker, 0});
  EXPECT_FALSE(ending.IsFailureDue(now + milliseconds(9)));
  EXPECT_TRUE(ending.IsFailureDue(now + milliseconds(10)));
  ending.Settle(now);
  EXPECT_TRUE(ending.IsFailureDue(now)) << "every worker has ended: no better explanation can come";
}

TEST_F(JobEndingTest, TheSchedulerHearsOfTheEndBeforeTheServersAndWhoStaysIsKilled) {
  ending.Begin(3, "worker 1 ended", now);
  EXPECT_TRUE(ending.begun());
  EXPECT_EQ(ending.exit_code(), 3);
  EXPECT_THAT(control.acts, Contains(To("scheduler", SIGTERM)));
  EXPECT_THAT(control.acts, Contains(To("worker 0", SIGTERM)));
  EXPECT_THAT(control.acts, Not(Contains(To("server 0", SIGTERM))));
  EXPECT_THAT(control.said, ElementsAre("worker 1 ended; ending the job"));
  ending.OnTime(now + milliseconds(300));
  EXPECT_EQ(control.acts.back(), To("server 0", SIGTERM));
  control.acts.clear();
  ending.OnTime(now + options.term_grace - milliseconds(1));
  EXPECT_THAT(control.acts, IsEmpty());
  ending.OnTime(now + options.term_grace);
  EXPECT_THAT(control.acts,
              ElementsAre(To("scheduler", SIGKILL), To("server 0", SIGKILL), To("worker 0", SIGKILL)));
}

TEST_F(JobEndingTest, ServersNeedNotWaitForASchedulerThatIsGone) {
  control.running.clear();
  ending.Begin(0, "", now);
  ending.OnTime(now);
  EXPECT_EQ(control.acts.back(), To("server 0", SIGTERM));
  EXPECT_THAT(control.said, IsEmpty());
}

TEST_F(JobEndingTest, InterruptedScriptsMayEndByThemselvesForTheGraceTime) {
  ASSERT_TRUE(ending.MayInterrupt());
  ending.SetInterrupted();
  ending.BeginInterrupt(now);
  EXPECT_THAT(control.acts, ElementsAre(To("worker 0", SIGINT), To("worker 0", SIGCONT)));
  EXPECT_THAT(control.said, ElementsAre(HasSubstr("within 30s")));
  EXPECT_FALSE(ending.IsInterruptOver(now + options.grace - milliseconds(1)));
  EXPECT_TRUE(ending.IsInterruptOver(now + options.grace));
  ending.EndInterrupt();
  EXPECT_FALSE(ending.interrupting());
  ending.Begin(130, "stopped by Ctrl-C", now);
  EXPECT_EQ(control.said.back(), "stopped by Ctrl-C; ending the job (once more to kill it at once)");
  EXPECT_FALSE(ending.MayInterrupt());
}

TEST_F(JobEndingTest, ThereIsNothingToInterruptWithoutWorkersOrWithoutGraceTime) {
  control.running.erase({JobRole::kWorker, 0});
  EXPECT_FALSE(ending.MayInterrupt());
  control.running.insert({JobRole::kWorker, 0});
  options.grace = milliseconds(0);
  EXPECT_FALSE(ending.MayInterrupt());
}

TEST_F(JobEndingTest, RolesMayEndByThemselvesAfterTheLastWorkerUnlessThatIsInVain) {
  EXPECT_FALSE(ending.HasSettled(now, true));
  ending.Settle(now);
  EXPECT_FALSE(ending.HasSettled(now, false));
  EXPECT_TRUE(ending.HasSettled(now, true));
  EXPECT_TRUE(ending.HasSettled(now + options.settle, false));
}

}  // namespace
}  // namespace leeway::app
