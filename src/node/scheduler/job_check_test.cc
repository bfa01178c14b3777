#include "node/scheduler/job_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/scheduler/testing/hand_fed_job.h"

namespace leeway {
namespace {

using ::testing::HasSubstr;

class JobCheckTest : public ::testing::Test {
 protected:
  [[nodiscard]] Status Training(bool over) const { return CheckTraining("j", over, job.members, job.tables); }
  [[nodiscard]] Status Checkpoint(bool writes, bool over) const {
    return CheckCheckpoint("j", writes, over, job.members, job.tables);
  }

  testing::HandFedJob job;
};

TEST_F(JobCheckTest, AJobTrainsFromItsFirstTablesToItsEnd) {
  EXPECT_THAT(CheckTraining("j", false, Membership(job.options), job.tables).message(),
              HasSubstr("has not begun: missing"));
  EXPECT_THAT(Training(false).message(), HasSubstr("has no tables yet"));
  job.Define("t");
  EXPECT_TRUE(Training(false).ok());
  EXPECT_THAT(Training(true).message(), HasSubstr("is over"));
}

TEST_F(JobCheckTest, NoPartOfAFlushIsEmpty) {
  job.options.flush_bytes = 0;
  EXPECT_THAT(CheckJob(job.options).message(), HasSubstr("flush_bytes of the job: got 0, wanted at least 1"));
}

TEST_F(JobCheckTest, PullsLeaveAtOneOfTwoTimes) {
  job.options.pull_at = "noon";
  EXPECT_THAT(CheckJob(job.options).message(),
              HasSubstr("pull_at of the job: got \"noon\", wanted ready or clock"));
}

TEST_F(JobCheckTest, ACheckpointThatHasNoTablesYetMayBeAskedForAgain) {
  EXPECT_EQ(Checkpoint(true, false).code(), StatusCode::kNotFound);
  EXPECT_EQ(Checkpoint(true, true).code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(Checkpoint(false, false).message(), HasSubstr("writes no checkpoints"));
  job.Define("t");
  EXPECT_TRUE(Checkpoint(true, false).ok());
}

}  // namespace
}  // namespace leeway
