#include "scenario/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway::scenario {
namespace {

using ::testing::HasSubstr;

TEST(StudyTest, KeysThatGoTogetherAreSetTogether) {
  const Result<Sweep> sweep = ParseSweep("cluster.workers+iterations=8+400;16+200");
  ASSERT_TRUE(sweep.ok());
  const Result<Study> study = PlanStudy({}, {*sweep}, 1, 1);
  ASSERT_TRUE(study.ok()) << study.status().ToString();
  ASSERT_EQ(study->cells.size(), 2U);
  EXPECT_EQ(study->cells[1].scenario.job.workers, 16U);
  EXPECT_EQ(study->cells[1].scenario.iterations, 200U);
  EXPECT_EQ(study->cells[1].label, "16");
}

TEST(StudyTest, AValueForOneOfTwoKeysIsRefused) {
  const Result<Sweep> sweep = ParseSweep("cluster.workers+iterations=8+400;16");
  ASSERT_TRUE(sweep.ok());
  EXPECT_THAT(PlanStudy({}, {*sweep}, 1, 1).status().message(), HasSubstr("wanted 2 values parted by +"));
}

}  // namespace
}  // namespace leeway::scenario
