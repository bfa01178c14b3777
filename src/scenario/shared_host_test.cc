// Workers that share the cores of one host, as processes of `leeway run` do.
#include <gtest/gtest.h>

#include "scenario/run_scenario.h"

namespace leeway::scenario {
namespace {

Scenario OneHost() {
  Scenario scenario;
  scenario.job.workers = 4;
  scenario.job.servers = 2;
  scenario.problem = "quadratic:dimensions=100";
  scenario.iterations = 50;
  scenario.compute.base_s = 0.02;
  scenario.links.latency_s = 1e-5;
  scenario.cores = 2;
  return scenario;
}

double SecondsOf(const Scenario& scenario) {
  const Result<RunRecord> record = RunScenario(scenario, problem::BuiltinProblems(), 1);
  EXPECT_TRUE(record.ok()) << record.status().ToString();
  EXPECT_TRUE(record->errors.empty()) << record->errors[0];
  return record->seconds;
}

TEST(SharedHostTest, FourWorkersOnTwoCoresTakeTwiceAsLong) { EXPECT_NEAR(SecondsOf(OneHost()), 2.0, 0.02); }

TEST(SharedHostTest, ServersWorkOnTheSameCores) {
  Scenario scenario = OneHost();
  scenario.job.sync = "asp";  // so that somebody computes while a server works
  const double without = SecondsOf(scenario);
  scenario.server.per_message_s = 0.005;
  EXPECT_GT(SecondsOf(scenario), without * 1.2);
}

// Encoding the values of a checkpoint costs time beside the loop: nobody waits for it on a machine with cores
// to spare.
TEST(SharedHostTest, JobsBesideTheLoopCostWorkersTimeOnlyOnSharedCores) {
  Scenario scenario = OneHost();
  scenario.iterations = 200;
  scenario.faults.checkpoint_every = 5;
  for (const double cores : {0.0, 2.0}) {
    scenario.cores = cores;
    scenario.jobs = {};
    const double without = SecondsOf(scenario);
    scenario.jobs.job_s = 0.3;
    if (cores == 0)
      EXPECT_NEAR(SecondsOf(scenario), without, 0.01 * without);
    else
      EXPECT_GT(SecondsOf(scenario), 1.1 * without);
  }
}

// It computes for as long as the others do, and sleeps three times that, in which they have the cores.
TEST(SharedHostTest, AWorkerThatSleepsLeavesItsCoreToTheOthers) {
  Scenario scenario = OneHost();
  scenario.compute.slowed = {{3, 4.0}};
  const double slowed = SecondsOf(scenario);
  EXPECT_GT(slowed, 50 * 0.08);
  EXPECT_LT(slowed, 50 * 0.16);
}

TEST(SharedHostTest, APoolIsSharedByWhoIsFast) {
  Scenario scenario = OneHost();
  scenario.job.sync = "asp";
  scenario.pool = 200;
  scenario.compute.slowed = {{3, 10.0}};
  const Result<RunRecord> record = RunScenario(scenario, problem::BuiltinProblems(), 1);
  ASSERT_TRUE(record.ok());
  ASSERT_TRUE(record->errors.empty()) << record->errors[0];
  EXPECT_EQ(record->iterations, 200U);
  EXPECT_LT(record->seconds, 2.6);  // as long as the fast ones need for nearly all of it
}

TEST(SharedHostTest, TimesComeFromTheSamplesOfEachRank) {
  Scenario scenario = OneHost();
  scenario.cores = 0;
  scenario.compute.samples = {{1.0F}, {0.5F, 1.5F}, {1.0F}, {3.0F}};
  EXPECT_NEAR(SecondsOf(scenario), 50 * 0.06, 0.05);
}

TEST(SharedHostTest, WhatNeedsNoCoreIsNotShared) {
  Scenario scenario = OneHost();
  scenario.compute.elsewhere_s = 0.1;
  EXPECT_NEAR(SecondsOf(scenario), 50 * 0.14, 0.05);
}

}  // namespace
}  // namespace leeway::scenario
