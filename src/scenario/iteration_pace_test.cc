#include "scenario/iteration_pace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "scenario/run_books.h"

namespace leeway::scenario {
namespace {

using std::chrono::milliseconds;

Step StepInMs(std::uint32_t rank, std::uint32_t iteration, int asked_ms, int began_ms, int ended_ms) {
  return {rank, iteration, milliseconds(asked_ms), milliseconds(began_ms), milliseconds(ended_ms)};
}

TEST(PaceOfTest, IsTheTimeOfAnIterationLessItsLongestComputing) {
  const std::vector<Step> steps = {
      StepInMs(0, 0, 0, 0, 1000),       StepInMs(1, 0, 0, 0, 2000),       StepInMs(0, 1, 1000, 3000, 4000),
      StepInMs(1, 1, 2000, 3500, 5500),  // 5500 - 1000 - 2000; 5500 - 2000 - 2000
      StepInMs(1, 2, 5500, 6000, 8000), StepInMs(0, 2, 4000, 6000, 9000),  // 9000 - 4000 - 3000; 9000 - 5500
                                                                           // - 3000
  };
  const PaceOfIterations pace = PaceOf(steps);
  EXPECT_DOUBLE_EQ(pace.communication_s, (2.5 + 2.0) / 2);
  EXPECT_DOUBLE_EQ(pace.beyond_compute_s, (1.5 + 0.5) / 2);
}

TEST(PaceOfTest, LeavesOutIterationsThatNobodyDid) {
  const std::vector<Step> steps = {StepInMs(0, 3, 0, 0, 1000), StepInMs(0, 7, 1000, 1400, 2000)};
  EXPECT_DOUBLE_EQ(PaceOf(steps).communication_s, 0.4);
  EXPECT_DOUBLE_EQ(PaceOf(steps).beyond_compute_s, 0.4);
}

TEST(PaceOfTest, OneIterationHasNone) {
  const std::vector<Step> steps = {StepInMs(0, 0, 0, 0, 1000), StepInMs(1, 0, 0, 0, 2000)};
  EXPECT_TRUE(std::isnan(PaceOf(steps).communication_s));
  EXPECT_TRUE(std::isnan(PaceOf({}).beyond_compute_s));
}

}  // namespace
}  // namespace leeway::scenario
