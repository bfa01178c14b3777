#include "status/job_display.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.h"

namespace leeway::app {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const char* const kGathering = R"({"job":"j","phase":"gathering","workers":[]})";
const char* const kRunning = R"({"job":"j","phase":"running","workers":[
  {"rank":0,"incarnation":1,"state":"joined","iteration":12,"figures":{"samples":384}}],
  "tables":[{"name":"w","sync":"bsp","apply":"","optimizer":"sgd","elements":8,"blocks":1}]})";

TEST(JobDisplayTest, ShowsProgressAndThenTheSummaryOfTheLauncher) {
  JobDisplay display(1);
  EXPECT_THAT(display.Line(kGathering, 5), HasSubstr("gathering: 0 of 1 workers"));
  EXPECT_THAT(display.Line(kRunning, 10), AllOf(HasSubstr("10 s"), HasSubstr("step 12")));
  const std::string summary = display.Summary(kRunning, Status::Ok(), 20);
  EXPECT_THAT(summary, AllOf(HasSubstr("Job done after 20.0 s"), HasSubstr("start 10.0 s"), HasSubstr("384"),
                             HasSubstr("w0")));
}

TEST(JobDisplayTest, TheStartEndsWhenTheSchedulerSaysThatTheJobHadGathered) {
  JobDisplay display(1);
  EXPECT_THAT(display.Summary(R"({"job":"j","phase":"ended","gathered_after_s":1.5})", Status::Ok(), 4),
              HasSubstr("(start 1.5 s, scripts 2.5 s, end 0.0 s)"));
}

TEST(JobDisplayTest, AfterARestartOfTheSchedulerTheSummaryIsOfTheWholeJob) {
  JobDisplay display(1);
  const std::string summary = display.Summary(
      R"({"job":"j","phase":"ended","uptime_s":50,"took_over_s":12,"gathered_after_s":0,"training_s":49,
          "workers":[{"rank":0,"state":"left","iteration":9,"figures":{"compute_s":25,"steps":9}}],
          "tables":[{"name":"w","elements":1,"blocks":1,"sync":"bsp"}]})",
      Status::Ok(), 12);
  EXPECT_THAT(summary, AllOf(HasSubstr("Job done after 50.0 s"), HasSubstr("25.0   50 %"),
                             HasSubstr("the scheduler was started again 0:12 ago")));
}

TEST(JobDisplayTest, AStopThatWasAskedForIsNoFailure) {
  JobDisplay display(1);
  EXPECT_THAT(display.Summary(kRunning, Cancelled("stopped by Terminated"), 20),
              AllOf(HasSubstr("Job stopped after 20.0 s"), HasSubstr("stopped by Terminated"),
                    Not(HasSubstr("failed"))));
  EXPECT_THAT(display.Summary(kRunning, Unavailable("all 1 workers died"), 20),
              AllOf(HasSubstr("Job failed"), Not(HasSubstr("all 1 workers died"))))
      << "the last line of the scheduler says why";
}

}  // namespace
}  // namespace leeway::app
