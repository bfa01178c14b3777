// Processes that die and links that are cut while a job is timed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "scenario/run_scenario.h"

namespace leeway::scenario {
namespace {

using ::testing::HasSubstr;

// Four workers, 40 s of compute each, and a network that costs next to nothing.
Scenario FaultyJob(std::vector<std::string> plan) {
  Scenario scenario;
  scenario.job.workers = 4;
  scenario.job.servers = 2;
  scenario.job.sync = "bsp";
  scenario.problem = "quadratic:dimensions=100";
  scenario.iterations = 400;
  scenario.compute.base_s = 0.1;
  scenario.faults.plan = std::move(plan);
  return scenario;
}

RunRecord RunAnyhow(const Scenario& scenario, std::uint64_t seed = 1) {
  Result<RunRecord> record = RunScenario(scenario, problem::BuiltinProblems(), seed);
  EXPECT_TRUE(record.ok()) << record.status().ToString();
  return record.ok() ? *record : RunRecord{};
}

RunRecord RunToItsEnd(const Scenario& scenario, std::uint64_t seed = 1) {
  const RunRecord record = RunAnyhow(scenario, seed);
  EXPECT_THAT(record.errors, ::testing::IsEmpty());
  EXPECT_TRUE(std::isfinite(record.loss));
  return record;
}

TEST(FaultsTest, APlanThatComesTooLateChangesNoTime) {
  const RunRecord record = RunToItsEnd(FaultyJob({"at=1000 kill=worker.0"}));
  EXPECT_NEAR(record.seconds, 40, 0.5);
  EXPECT_EQ(record.lost_workers, 0U);
}

TEST(FaultsTest, AWorkerThatDiesForGoodIsExpelledAndTheOthersGoOn) {
  Scenario scenario = FaultyJob({"at=5 kill=worker.3"});
  const RunRecord record = RunToItsEnd(scenario);
  EXPECT_EQ(record.lost_workers, 1U);
  EXPECT_NEAR(static_cast<double>(record.iterations), 3 * 400 + 50, 3);
  EXPECT_NEAR(record.seconds, 40 + 10, 1.5);  // the scheduler looks once a second
  scenario.faults.expel_after_s = 4;
  EXPECT_NEAR(RunToItsEnd(scenario).seconds, 40 + 4, 1.5);
  scenario.job.sync = "asp";
  EXPECT_NEAR(RunToItsEnd(scenario).seconds, 40, 0.5);
}

TEST(FaultsTest, RankZeroMayBeLost) {
  const RunRecord record = RunToItsEnd(FaultyJob({"at=5 kill=worker.0"}));
  EXPECT_EQ(record.lost_workers, 1U);
}

TEST(FaultsTest, AWorkerThatComesBackTakesItsPlaceAgain) {
  const RunRecord record = RunToItsEnd(FaultyJob({"at=5.05 for=3 kill=worker.3"}));
  EXPECT_EQ(record.lost_workers, 1U);
  EXPECT_NEAR(record.seconds, 40 + 3, 0.5);
  EXPECT_NEAR(static_cast<double>(record.iterations), 4 * 400, 3);
}

// One server is slow, so both workers go on without its blocks all the time.
TEST(FaultsTest, WhatAWorkerSkippedBeforeItDiedCounts) {
  Scenario scenario = FaultyJob({"at=1000000 kill=worker.1"});
  scenario.job.workers = 2;
  scenario.job.sync = "asp";
  scenario.job.pull = "partial:0.4,0,skip_max=1000,late_pull=withdraw";
  scenario.problem = "ghost:resnet50,grain=65536";
  scenario.iterations = 20;
  scenario.links.worker_bytes_per_second = scenario.links.server_bytes_per_second = 2.5e9;
  scenario.server.per_byte_s = 1e-10;
  scenario.server.factors = {{0, 40.0}};
  const RunRecord whole = RunAnyhow(scenario);
  scenario.faults.plan = {fmt::format("at={} kill=worker.1", 0.75 * whole.seconds)};
  const RunRecord cut_short = RunAnyhow(scenario);
  EXPECT_EQ(cut_short.lost_workers, 1U);
  EXPECT_GT(static_cast<double>(cut_short.skipped_blocks), 0.6 * static_cast<double>(whole.skipped_blocks));
}

TEST(FaultsTest, OfKillsThatOverlapTheLastOneToEndBringsTheWorkerBack) {
  const RunRecord record =
      RunToItsEnd(FaultyJob({"at=5.05 for=3 kill=worker.3", "at=6 for=1 kill=worker.3"}));
  EXPECT_EQ(record.lost_workers, 1U);
  EXPECT_NEAR(record.seconds, 40 + 3, 0.5);
}

TEST(FaultsTest, AWorkerThatIsDownMayBeKilledForGood) {
  const RunRecord record = RunToItsEnd(FaultyJob({"at=5 for=3 kill=worker.3", "at=6 kill=worker.3"}));
  EXPECT_EQ(record.lost_workers, 1U);
  EXPECT_NEAR(static_cast<double>(record.iterations), 3 * 400 + 50, 3);
}

TEST(FaultsTest, AServerThatComesBackGoesOnFromACheckpoint) {
  Scenario scenario = FaultyJob({"at=5 for=2 kill=server.1"});
  scenario.faults.checkpoint_every = 20;
  const RunRecord record = RunToItsEnd(scenario);
  EXPECT_EQ(record.lost_servers, 1U);
  EXPECT_EQ(record.restores, 1U);
  EXPECT_GT(record.lost_pushes, 0U);
  EXPECT_EQ(record.lost_workers, 0U);
  EXPECT_NEAR(record.seconds, 40 + 2, 1.5);
}

TEST(FaultsTest, AServerWithoutACheckpointEndsTheJobWithAReason) {
  const RunRecord record = RunAnyhow(FaultyJob({"at=5 for=2 kill=server.1"}));
  ASSERT_FALSE(record.errors.empty());
  EXPECT_THAT(record.errors[0], HasSubstr("server 1"));
}

TEST(FaultsTest, ALinkThatIsCutForAWhileHoldsUpAndLosesNobody) {
  Scenario scenario = FaultyJob({"at=5 for=3 cut=worker.2"});
  RunRecord record = RunToItsEnd(scenario);
  EXPECT_EQ(record.lost_workers, 0U);
  EXPECT_NEAR(record.seconds, 40 + 3, 0.5);
  EXPECT_EQ(record.iterations, 4 * 400U);
  scenario.faults.plan = {"at=5 for=3 cut=all"};
  EXPECT_NEAR(RunToItsEnd(scenario).seconds, 40 + 3, 0.5);
}

TEST(FaultsTest, AWorkerWhoseLinkIsCutForTooLongIsExpelledAndStartsAgain) {
  Scenario scenario = FaultyJob({"at=5 for=20 cut=worker.1"});
  RunRecord record = RunToItsEnd(scenario);
  EXPECT_EQ(record.lost_workers, 1U);
  EXPECT_NEAR(record.seconds, 40 + 10, 2);
  EXPECT_GT(record.iterations, 3 * 400 + 50 + 50U);
  scenario.faults.restart_s = std::numeric_limits<double>::infinity();
  EXPECT_NEAR(static_cast<double>(RunToItsEnd(scenario).iterations), 3 * 400 + 50, 3);
}

TEST(FaultsTest, AMachineThatLosesItsPowerFallsSilent) {
  const RunRecord record = RunToItsEnd(FaultyJob({"at=5 for=15 cut=worker.1", "at=5 for=15 kill=worker.1"}));
  EXPECT_EQ(record.lost_workers, 1U);
  EXPECT_NEAR(record.seconds, 40 + 10, 2);
}

TEST(FaultsTest, AJobThatLosesAllItsWorkersEndsWithAReason) {
  const RunRecord record = RunAnyhow(FaultyJob({"at=5 kill=workers"}));
  ASSERT_FALSE(record.errors.empty());
  EXPECT_THAT(record.errors[0], HasSubstr("all 4 workers died"));
}

TEST(FaultsTest, AJobWhoseWorkersDieBeforeAnyIterationEndsIsStopped) {
  Scenario scenario = FaultyJob({"every=20 for=1 kill=workers"});
  scenario.job.workers = 2;
  scenario.compute.base_s = 300;
  scenario.pool = 40;
  const RunRecord record = RunAnyhow(scenario);
  ASSERT_FALSE(record.errors.empty());
  EXPECT_THAT(record.errors[0], HasSubstr("nobody moves any more"));
  EXPECT_EQ(record.iterations, 0U);
  EXPECT_EQ(record.seconds, 0);
}

TEST(FaultsTest, RandomFaultsComeFromTheSeed) {
  Scenario scenario = FaultyJob({"every=20 for=1 kill=workers", "every=30 for=2 cut=all"});
  scenario.faults.plan.emplace_back("every=40 for=1 kill=servers");
  scenario.faults.checkpoint_every = 10;
  const RunRecord a = RunToItsEnd(scenario, 5), b = RunToItsEnd(scenario, 5), c = RunToItsEnd(scenario, 6);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.events, b.events);
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(a.lost_pushes, b.lost_pushes);
  EXPECT_NE(a.events, c.events);
  EXPECT_GT(a.lost_workers + c.lost_workers, 4U);
  EXPECT_GT(a.restores + c.restores, 0U);
}

TEST(FaultsTest, APoolIsDoneByThoseThatLive) {
  Scenario scenario = FaultyJob({"at=5 for=2 kill=worker.1", "at=8.05 kill=worker.2"});
  scenario.job.sync = "asp";
  scenario.pool = 800;
  const RunRecord record = RunToItsEnd(scenario);
  EXPECT_EQ(record.iterations, 800U);
}

}  // namespace
}  // namespace leeway::scenario
