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

// The first values that arrive are taken, whoever offers them.
TEST(RunScenarioTest, BeginsWithTheProblemsValuesHoweverManyWorkersThereAre) {
  Scenario alone = Small();
  alone.job.workers = 1;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Result<RunRecord> many = RunScenario(Small(), problem::BuiltinProblems(), seed);
    const Result<RunRecord> one = RunScenario(alone, problem::BuiltinProblems(), seed);
    ASSERT_TRUE(many.ok() && one.ok());
    EXPECT_EQ(many->curve.front().loss, one->curve.front().loss) << "seed " << seed;
  }
}

TEST(RunScenarioTest, WaitsAreInBinsThatAddUpToOne) {
  const Result<RunRecord> record = RunScenario(Small(), problem::BuiltinProblems(), 1);
  ASSERT_TRUE(record.ok());
  double sum = 0;
  for (const double share : record->wait_bins) sum += share;
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_EQ(WaitBinOf(0), 0U);
  EXPECT_EQ(WaitBinOf(1e9), kWaitBins - 1);
  EXPECT_EQ(WaitBinOf(WaitBinMiddle(20)), 20U);
}

TEST(RunScenarioTest, ALargerBatchTakesLonger) {
  Scenario scenario = Small();
  scenario.compute.base_s = 0.01;
  scenario.compute.per_sample_s = 0.01;
  scenario.compute.spread = 0;
  scenario.problem = "quadratic:dimensions=100,batch=9";
  const Result<RunRecord> record = RunScenario(scenario, problem::BuiltinProblems(), 1);
  ASSERT_TRUE(record.ok());
  EXPECT_NEAR(record->compute_s, 20 * 0.1, 1e-6);
}

}  // namespace
}  // namespace leeway::scenario
