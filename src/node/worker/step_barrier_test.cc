#include "node/worker/step_barrier.h"

#include <gtest/gtest.h>

namespace leeway {
namespace {

constexpr TimePoint kNow{std::chrono::seconds(5)};

TEST(StepBarrierTest, WithOverlapNoStepEndsAtABarrier) {
  StepBarrier step;
  step.EndStep();
  EXPECT_FALSE(step.behind());
  EXPECT_FALSE(step.HoldsPulls(true));
  EXPECT_FALSE(step.Enter());
}

TEST(StepBarrierTest, PullsOfAStepComeAfterItsBarrier) {
  StepBarrier step;
  step.Enable();
  EXPECT_TRUE(step.HoldsPulls(true)) << "the step under way has its barrier before it";
  EXPECT_FALSE(step.HoldsPulls(false));
  step.EndStep();
  EXPECT_TRUE(step.HoldsPulls(false));
  EXPECT_TRUE(step.Enter());
  EXPECT_FALSE(step.Enter()) << "once";
  step.Leave();
  step.Pass(kNow);
  EXPECT_FALSE(step.behind());
  EXPECT_FALSE(step.HoldsPulls(false));
  EXPECT_EQ(step.passed_at(), kNow);
}

TEST(StepBarrierTest, AWorkerThatIsTwoStepsAheadPassesTwoBarriers) {
  StepBarrier step;
  step.Enable();
  step.EndStep();
  step.EndStep();
  EXPECT_TRUE(step.Enter());
  step.Leave();
  step.Pass(kNow);
  EXPECT_TRUE(step.behind());
  EXPECT_TRUE(step.Enter());
}

TEST(StepBarrierTest, AWorkerThatLeavesPassesAllOfThem) {
  StepBarrier step;
  step.Enable();
  step.EndStep();
  step.EndStep();
  EXPECT_TRUE(step.Enter());
  step.PassAll(kNow);
  EXPECT_FALSE(step.behind());
  EXPECT_FALSE(step.entered());
  EXPECT_EQ(step.passed_at(), kNow);
}

}  // namespace
}  // namespace leeway
