#include "launch/asked_checkpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch/testing/fake_control.h"

namespace leeway::app {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AskedCheckpointsTest : public ::testing::Test {
 protected:
  std::optional<std::string> Answer(StatusCode code) {
    return asked.TakeAnswer({.status = {code, "why"}, .checkpoint = 4, .iteration = 9, .folder = "/c/4"},
                            now);
  }
  std::optional<std::string> Pass(int ms) { return asked.OnTime(now += milliseconds(ms)); }

  SteadyClock::time_point now{std::chrono::hours(1)};
  FakeControl control;
  AskedCheckpoints asked{true, milliseconds(6'000), control};
};

TEST_F(AskedCheckpointsTest, TheSchedulerIsAskedOnceForSeveralSignals) {
  asked.Ask(true);
  asked.Ask(true);
  EXPECT_THAT(control.acts, ElementsAre("ask for a checkpoint"));
  EXPECT_EQ(Answer(StatusCode::kOk), std::nullopt);
  EXPECT_THAT(control.said, ElementsAre("checkpoint 4 of iteration 9 is at /c/4"));
  asked.Ask(true);
  EXPECT_EQ(control.acts.size(), 2U);
}

TEST_F(AskedCheckpointsTest, AJobThatCannotWriteOneSaysWhy) {
  asked.Ask(false);
  AskedCheckpoints(false, milliseconds(1), control).Ask(true);
  EXPECT_THAT(control.said, ElementsAre(HasSubstr("has not begun"), HasSubstr("--checkpoint-dir")));
  EXPECT_THAT(control.acts, IsEmpty());
}

TEST_F(AskedCheckpointsTest, ADrainEndsAfterItsCheckpoint) {
  EXPECT_TRUE(asked.BeginDrain(now));
  EXPECT_FALSE(asked.BeginDrain(now)) << "the second signal ends the job at once";
  EXPECT_EQ(Answer(StatusCode::kOk), "after a checkpoint");
}

TEST_F(AskedCheckpointsTest, ADrainAsksAgainWhereTheNextTryMayDoBetter) {
  ASSERT_TRUE(asked.BeginDrain(now));
  EXPECT_EQ(Answer(StatusCode::kUnavailable), std::nullopt);
  EXPECT_EQ(Pass(499), std::nullopt);
  EXPECT_EQ(control.acts.size(), 1U);
  EXPECT_EQ(Pass(1), std::nullopt);
  EXPECT_EQ(control.acts.size(), 2U);
  EXPECT_EQ(Answer(StatusCode::kInternal), "without a new checkpoint");
}

TEST_F(AskedCheckpointsTest, ADrainWaitsAPartOfTheGraceTimeForTheFirstTables) {
  ASSERT_TRUE(asked.BeginDrain(now));
  EXPECT_EQ(Answer(StatusCode::kNotFound), std::nullopt);
  EXPECT_EQ(Pass(1'000), std::nullopt);
  EXPECT_EQ(Answer(StatusCode::kNotFound), "with nothing to keep: why");
}

TEST_F(AskedCheckpointsTest, ADrainEndsWithItsGraceTime) {
  ASSERT_TRUE(asked.BeginDrain(now));
  EXPECT_EQ(Answer(StatusCode::kFailedPrecondition), std::nullopt) << "the job is at its own end";
  EXPECT_EQ(Pass(5'999), std::nullopt);
  EXPECT_EQ(Pass(1), "without a new checkpoint: it was not whole within 6s");
}

}  // namespace
}  // namespace leeway::app
