// A job that loses all power resumes from its newest checkpoint, and ends with the same bits as an
// undisturbed one.
#include <gtest/gtest.h>

#include "sim/workloads/power_loss.h"

namespace leeway::sim {
namespace {

TEST(CheckpointTest, AfterALossOfPowerAJobEndsWithTheSameBits) {
  std::uint64_t losses = 0, resumed = 0, states = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const PowerLossReport report = RunPowerLoss(seed);
    ASSERT_TRUE(report.ok()) << report.problems[0];
    losses += report.losses;
    resumed += report.resumed;
    states += report.states;
  }
  EXPECT_GE(losses, 50U);
  EXPECT_GE(resumed, 50U);
  EXPECT_GE(states, 1000U);
}

// 28 found a worker that left while its state was on its way, and a checkpoint made without it; 1597 a worker
// that left exactly at the cut.
TEST(CheckpointTest, AWorkerThatLeavesTakesNoStateAwayFromACheckpoint) {
  for (const std::uint64_t seed : {28, 1597}) {
    const PowerLossReport report = RunPowerLoss(seed);
    EXPECT_TRUE(report.ok()) << report.problems[0];
  }
}

}  // namespace
}  // namespace leeway::sim
