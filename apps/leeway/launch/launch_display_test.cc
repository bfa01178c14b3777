#include "launch/launch_display.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway::app {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::internal::CaptureStderr;
using ::testing::internal::CaptureStdout;
using ::testing::internal::GetCapturedStderr;
using ::testing::internal::GetCapturedStdout;

class LaunchDisplayTest : public ::testing::Test {
 protected:
  struct Shown {
    std::string out, err;
  };
  Shown Show(const std::function<void(LaunchDisplay&)>& call) {
    CaptureStdout();
    CaptureStderr();
    {
      Screen screen(false);
      LaunchDisplay display(options, screen);
      call(display);
    }
    std::string err = GetCapturedStderr();
    return {GetCapturedStdout(), std::move(err)};
  }
  LaunchOptions options;
};

TEST_F(LaunchDisplayTest, ALineOfProgressIsSaidNowAndThenAndNeverInAQuietLaunch) {
  const auto call = [](LaunchDisplay& display) {
    const auto now = std::chrono::steady_clock::now();
    display.ShowProgress(now + milliseconds(4'000), 4);
    display.ShowProgress(now + milliseconds(6'000), 6);
    display.ShowProgress(now + milliseconds(7'000), 7);
  };
  EXPECT_EQ(Show(call).err, "leeway: 6 s  starting\n");
  options.quiet = true;
  EXPECT_EQ(Show(call).err, "");
}

TEST_F(LaunchDisplayTest, AQuietLaunchStillWarns) {
  options.quiet = true;
  const JobStatus status = *ParseJobStatus(
      R"({"workers":[{"rank":0,"figures":{"first_gradients":7}},{"rank":1,"figures":{"first_gradients":7}}]})");
  EXPECT_THAT(Show([&](LaunchDisplay& display) { display.Add(status, 1); }).err,
              HasSubstr("warning: w0 and w1 have the same first gradients"));
}

TEST_F(LaunchDisplayTest, BeforeTheFirstStatusNobodyKnowsWhoWaits) {
  const Shown shown = Show([](LaunchDisplay& display) { display.ShowWhoWaits(nullptr); });
  EXPECT_EQ(shown.err, "The scheduler has not said anything yet.\n");
}

TEST_F(LaunchDisplayTest, AfterAnErrorOfAScriptItsLastLinesAndOneLineEndTheOutput) {
  Outcome outcome;
  outcome.exit_code = 3;
  outcome.why = "worker 1 ended with exit code 3";
  const FailedWorker worker{1, [] { return std::vector<std::string>{"ValueError: x"}; }, "a hint"};
  const auto call = [&](LaunchDisplay& display) { display.ShowEnd(outcome, true, worker); };
  const Shown shown = Show(call);
  EXPECT_EQ(shown.out, "");
  EXPECT_EQ(shown.err,
            "[w1] ValueError: x\nleeway: a hint\n"
            "leeway: job failed after 0.0 s: worker 1 ended with exit code 3\n");
  options.prefix = false;
  EXPECT_THAT(Show(call).err, Not(HasSubstr("[w1]")));
}

TEST_F(LaunchDisplayTest, AJobThatFailedSaysWhyOnce) {
  Outcome outcome;
  outcome.exit_code = 6;
  outcome.why = "scheduler ended with exit code 6: the port is in use";
  const auto call = [&](LaunchDisplay& display) { display.ShowEnd(outcome, false, std::nullopt); };
  const Shown shown = Show(call);
  EXPECT_EQ(shown.out, "");
  EXPECT_EQ(shown.err, "leeway: job failed after 0.0 s: " + outcome.why + "\n");
  outcome.lives = WorkerLives(1, {});
  outcome.lives.Start(0, LifeBegan::kStart);
  outcome.lives.End(0, {137, 9}, false);
  const Shown later = Show(call);
  EXPECT_THAT(later.out, AllOf(HasSubstr("lost: exit code 137"), Not(HasSubstr(outcome.why))));
  EXPECT_EQ(later.err, shown.err);
}

TEST_F(LaunchDisplayTest, ALossThatGivesTheJobItsExitCodeIsNamedAfterTheSummary) {
  Outcome outcome;
  outcome.lives = WorkerLives(1, {});
  outcome.lives.Start(0, LifeBegan::kStart);
  outcome.lives.End(0, {137, 9}, false);
  JudgeEnd(outcome, false);
  const Shown shown = Show([&](LaunchDisplay& display) { display.ShowEnd(outcome, false, std::nullopt); });
  EXPECT_THAT(shown.out, HasSubstr("Job done"));
  EXPECT_THAT(shown.err, HasSubstr("but without worker 0, which ended with exit code 137"));
}

}  // namespace
}  // namespace leeway::app
