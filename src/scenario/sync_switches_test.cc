// Models that change while a simulated job runs.
#include "scenario/sync_switches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/check_policies.h"
#include "scenario/run_scenario.h"

namespace leeway::scenario {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Worker 3 is four times slower, so under bsp the job ends after 40 x 0.4 s, and the others wait in every
// iteration.
Scenario UnevenJob() {
  Scenario scenario;
  scenario.job.workers = 4;
  scenario.job.sync = "bsp";
  scenario.problem = "quadratic:dimensions=100";
  scenario.iterations = 40;
  scenario.compute.base_s = 0.1;
  scenario.compute.factors = {{3, 4.0}};
  return scenario;
}

RunRecord RunSwitched(const Scenario& scenario) {
  const Result<RunRecord> record = RunScenario(scenario, problem::BuiltinProblems(), 1);
  EXPECT_TRUE(record.ok()) << record.status().ToString();
  if (!record.ok()) return {};
  EXPECT_THAT(record->errors, IsEmpty());
  return *record;
}

TEST(SyncSwitchesTest, FromItsTimeOnTheJobHasTheNewModel) {
  Scenario scenario = UnevenJob();
  const double always = RunSwitched(scenario).dprs;
  scenario.switches = {"at=8 sync=asp"};
  EXPECT_NEAR(RunSwitched(scenario).dprs, always / 2, 0.05 * always);
  scenario.switches = {"at=4 sync=asp", "at=5 tables=* sync=bsp"};
  EXPECT_GT(RunSwitched(scenario).dprs, 0.6 * always);
  scenario.switches = {"at=0 sync=asp"};
  EXPECT_LT(RunSwitched(scenario).dprs, 0.1 * always);
}

TEST(SyncSwitchesTest, AnotherWorkerAsksWhenTheFirstOneDies) {
  Scenario scenario = UnevenJob();
  scenario.faults.expel_after_s = 4;
  // In the second plan it dies after it has asked, and its question has not left.
  for (const std::vector<std::string>& plan : {std::vector<std::string>{"at=7.9 kill=worker.0"},
                                               {"at=7.9 for=3 cut=worker.0", "at=9 kill=worker.0"}}) {
    scenario.switches = {"at=8 sync=asp"};
    scenario.faults.plan = plan;
    const double switched = RunSwitched(scenario).dprs;
    scenario.switches = {};
    EXPECT_LT(switched, 0.75 * RunSwitched(scenario).dprs) << plan.size();
  }
}

TEST(SyncSwitchesTest, AWrongSwitchIsRefusedBeforeAnythingRuns) {
  for (const char* wrong : {"sync=asp", "at=x sync=asp", "at=-1 sync=asp", "at=5"}) {
    Scenario scenario = UnevenJob();
    scenario.switches = {wrong};
    EXPECT_THAT(CheckPolicies(scenario).message(), HasSubstr("policies.switches: got \"")) << wrong;
  }
  Scenario scenario = UnevenJob();
  for (const auto& [rule, said] :
       {std::pair("at=5 sync=sspx:2", "unknown sync model"), std::pair("at=5 server=7 sync=asp", "server")}) {
    scenario.switches = {rule};
    EXPECT_THAT(CheckPolicies(scenario).message(), HasSubstr("policies.switches: ")) << rule;
    EXPECT_THAT(CheckPolicies(scenario).message(), HasSubstr(said)) << rule;
  }
}

}  // namespace
}  // namespace leeway::scenario
