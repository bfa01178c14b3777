// Speeds that change while a job runs, against times that anyone can compute.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scenario/run_scenario.h"

namespace leeway::scenario {
namespace {

RunRecord RunWell(const Scenario& scenario, std::uint64_t seed = 1) {
  Result<RunRecord> record = RunScenario(scenario, problem::BuiltinProblems(), seed);
  EXPECT_TRUE(record.ok()) << record.status().ToString();
  if (!record.ok()) return {};
  EXPECT_TRUE(record->errors.empty()) << record->errors[0];
  return *record;
}

// Compute of a second, and a network that costs nothing.
Scenario ComputingJob() {
  Scenario scenario;
  scenario.job.workers = 2;
  scenario.job.sync = "bsp";
  scenario.problem = "quadratic:dimensions=100";
  scenario.iterations = 10;
  scenario.compute.base_s = 1;
  scenario.links.latency_s = 0;
  scenario.links.worker_bytes_per_second = scenario.links.server_bytes_per_second = 1e12;
  return scenario;
}

TEST(ChangesTest, AnIterationTakesAsLongAsItsBeginSays) {
  Scenario scenario = ComputingJob();
  scenario.changes = {"at=2.5 for=3 work=worker.1 slower=4"};
  // The iterations from 3 s on: one of 4 s, which ends after the change is over.
  EXPECT_NEAR(RunWell(scenario).seconds, 9 + 4, 1e-3);
  scenario.changes = {"at=0 work=worker.1 slower=2", "at=0 work=all slower=3"};
  EXPECT_NEAR(RunWell(scenario).seconds, 10 * 6, 1e-3);
  scenario.changes = {"at=3.5 work=workers slower=0.5"};
  EXPECT_NEAR(RunWell(scenario).seconds, 4 + 6 * 0.5, 1e-3);
}

// One worker and one server: an iteration is compute, all bytes up, all bytes down.
Scenario SendingJob() {
  Scenario scenario;
  scenario.job.sync = "bsp";
  scenario.job.overlap = false;
  scenario.problem = "ghost:alexnet,grain=65536";
  scenario.iterations = 5;
  scenario.compute.base_s = 1;
  scenario.links.latency_s = 0;
  scenario.links.worker_bytes_per_second = scenario.links.server_bytes_per_second = 1e9;
  return scenario;
}

TEST(ChangesTest, ALinkThatIsSlowServesItsMessagesSlowly) {
  Scenario scenario = SendingJob();
  const RunRecord usual = RunWell(scenario);
  const double model_s = usual.server_bytes[0] / 1e9;
  for (const char* link : {"worker.0", "server.0", "all"}) {
    scenario.changes = {std::string("at=0 slower=4 link=") + link};
    EXPECT_NEAR(RunWell(scenario).seconds, 5 * 1.0 + 4 * 2 * 4 * model_s, 0.02 * usual.seconds) << link;
  }
  // From the middle of the first push on half of the rate: half a push and a pull at the slow rate.
  scenario.iterations = 2;
  const std::string at = std::to_string(1 + model_s / 2);
  scenario.changes = {"at=" + at + " slower=2 link=server.0"};
  EXPECT_NEAR(RunWell(scenario).seconds, 2 * 1.0 + model_s / 2 + (model_s / 2 + model_s) * 2, 0.02);
}

TEST(ChangesTest, AServerThatIsSlowIsTheBottleneck) {
  Scenario scenario = ComputingJob();
  scenario.compute.base_s = 0.001;
  scenario.server.per_message_s = 0.01;
  const double usual = RunWell(scenario).seconds;
  scenario.changes = {"at=0 work=server.0 slower=5"};
  EXPECT_NEAR(RunWell(scenario).seconds / usual, 5, 0.5);
}

TEST(ChangesTest, RandomChangesComeFromTheSeed) {
  Scenario scenario = ComputingJob();
  scenario.iterations = 50;
  scenario.changes = {"every=10 for=3 work=workers slower=5", "every=5 for=1 link=all slower=1000"};
  const RunRecord a = RunWell(scenario, 3), b = RunWell(scenario, 3), c = RunWell(scenario, 4);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.events, b.events);
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_NE(a.seconds, c.seconds);
  EXPECT_GT(a.seconds, 60);
}

TEST(ChangesTest, AWrongPlanIsAnError) {
  Scenario scenario = ComputingJob();
  scenario.changes = {"at=1 work=worker.2 slower=2"};
  EXPECT_FALSE(RunScenario(scenario, problem::BuiltinProblems(), 1).ok());
}

}  // namespace
}  // namespace leeway::scenario
