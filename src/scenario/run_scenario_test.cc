#include "scenario/run_scenario.h"

#include <gtest/gtest.h>

namespace leeway::scenario {
namespace {

Scenario Small() {
  Scenario scenario;
  scenario.job.workers = 4;
  scenario.job.servers = 2;
  scenario.job.sync = "ssp:2";
  scenario.problem = "quadratic:dimensions=100";
  scenario.iterations = 20;
  scenario.compute.spread = 0.2;
  scenario.recording.judge_every = 5;
  return scenario;
}

TEST(RunScenarioTest, TrainsToTheEnd) {
  const Result<RunRecord> record = RunScenario(Small(), problem::BuiltinProblems(), 1);
  ASSERT_TRUE(record.ok()) << record.status().ToString();
  ASSERT_TRUE(record->errors.empty()) << record->errors[0];
  EXPECT_EQ(record->iterations, 80U);
  EXPECT_GT(record->seconds, 1.9);
  EXPECT_LT(record->seconds, 4.0);
  EXPECT_LT(record->loss, record->curve.front().loss / 2);
}

}  // namespace
}  // namespace leeway::scenario
