#include "scenario/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "scenario/figures.h"
#include "scenario/keys.h"

namespace leeway::scenario {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Scenario Tiny() {
  Scenario scenario;
  scenario.job.workers = 3;
  scenario.problem = "quadratic:dimensions=20";
  scenario.iterations = 10;
  scenario.compute.spread = 0.2;
  return scenario;
}

TEST(StudyTest, CommasInsideOfValuesAreHintedAt) {
  EXPECT_THAT(CommaHint(*ParseSweep("policies.sync=bsp,pssp:3,0.5")),
              HasSubstr("'policies.sync=bsp;pssp:3,0.5'"));
  EXPECT_THAT(CommaHint(*ParseSweep("policies.sync=pssp:3,0.5")),
              HasSubstr("--set policies.sync=pssp:3,0.5"));
  for (const char* fine :
       {"cluster.workers=8,16,32", "policies.sync=bsp,ssp:3,asp", "policies.sync=bsp;pssp:3,0.5"})
    EXPECT_EQ(CommaHint(*ParseSweep(fine)), "") << fine;
}

TEST(StudyTest, ASweepIsAKeyAndItsValues) {
  EXPECT_THAT(ParseSweep("cluster.workers=8,16,32")->values, ElementsAre("8", "16", "32"));
  EXPECT_THAT(ParseSweep("policies.sync=ssp:3;pssp:3,0.5")->values, ElementsAre("ssp:3", "pssp:3,0.5"));
  EXPECT_THAT(ParseSweep("policies.sync=pssp:3,0.5;")->values, ElementsAre("pssp:3,0.5"));
  for (const char* bad : {"", "=1", "key", "key="}) EXPECT_FALSE(ParseSweep(bad).ok()) << bad;
}

TEST(StudyTest, CellsAreAllCombinations) {
  const auto study = PlanStudy(Tiny(), problem::BuiltinProblems(),
                               {{"policies.sync", {"bsp", "asp"}}, {"cluster.workers", {"2", "4"}}}, 5, 2);
  ASSERT_TRUE(study.ok()) << study.status().ToString();
  ASSERT_EQ(study->cells.size(), 4U);
  EXPECT_THAT(study->seeds, ElementsAre(5, 6));
  EXPECT_EQ(study->cells[1].label, "bsp, 4");
  EXPECT_EQ(study->cells[2].scenario.job.sync, "asp");
  EXPECT_EQ(study->cells[3].scenario.job.workers, 4U);
  EXPECT_FALSE(PlanStudy(Tiny(), problem::BuiltinProblems(), {{"policies.snyc", {"bsp"}}}, 1, 1).ok());
}

TEST(StudyTest, DisturbancesCanBeSweptAndNoneOfThemIsAValue) {
  for (const std::string sweep :
       {"cluster.together=false,true",
        "changes.plan=;at=1 link=server.0 slower=10,every=9 for=1 work=workers slower=2",
        "faults.plan=;at=3 for=1 cut=worker.1", "cost.job_s=0,0.01",
        "policies.pull=full;partial:0.9,0,late_pull=withdraw"}) {
    const Study study = *PlanStudy(Tiny(), problem::BuiltinProblems(), {*ParseSweep(sweep)}, 1, 1);
    ASSERT_EQ(study.cells.size(), 2U) << sweep;
    EXPECT_NE(ToToml(study.cells[0].scenario), ToToml(study.cells[1].scenario)) << sweep;
    EXPECT_EQ(ToToml(study.cells[0].scenario), ToToml(study.base)) << sweep;
    EXPECT_EQ(study.cells[0].label == "none", sweep.find("=;") != std::string::npos) << sweep;
  }
}

TEST(StudyTest, RecordsDoNotDependOnTheNumberOfThreads) {
  const auto run = [](std::uint32_t threads) {
    auto study =
        PlanStudy(Tiny(), problem::BuiltinProblems(), {{"policies.sync", {"bsp", "ssp:1", "asp"}}}, 1, 3);
    EXPECT_TRUE(RunStudy(*study, problem::BuiltinProblems(), threads).ok());
    std::vector<double> losses;
    for (const Cell& cell : study->cells) {
      for (const RunRecord& record : cell.records) losses.push_back(record.loss + record.seconds);
    }
    return losses;
  };
  EXPECT_EQ(run(1), run(3));
}

TEST(StudyTest, AnErrorOfOneRunIsTheStudys) {
  auto study = PlanStudy(Tiny(), problem::BuiltinProblems(),
                         {{"training.problem", {"quadratic", "quadratic:sise=3"}}}, 1, 2);
  ASSERT_TRUE(study.ok());
  EXPECT_THAT(RunStudy(*study, problem::BuiltinProblems(), 2).message(),
              AllOf(HasSubstr("training.problem"), HasSubstr("sise")));
}

TEST(StudyTest, PoliciesAreCheckedBeforeAnythingRuns) {
  for (const auto& [key, value, wanted] : {std::tuple("policies.sync", "sps:2", "sps"),
                                           {"policies.placement", "hash", "unknown placement"},
                                           {"training.optimizer", "sgdd", "sgdd"},
                                           {"training.problem", "quadratc", "did you mean \"quadratic\""},
                                           {"policies.rules", "server=9 sync=asp", "server"},
                                           {"policies.pull", "some", "pull"}}) {
    const auto study = PlanStudy(Tiny(), problem::BuiltinProblems(), {{key, {value}}}, 1, 1);
    ASSERT_FALSE(study.ok()) << key;
    EXPECT_THAT(study.status().message(), AllOf(HasSubstr(key), HasSubstr(wanted)));
  }
}

TEST(StudyTest, AMistakeIsSaidWithThePlaceOfItsKeyAlsoWhereTwoKeysDoNotFit) {
  Scenario scenario = Tiny();
  scenario.job.sync = "asp";
  scenario.job.apply = "aggregate";
  scenario.said_at = {{"policies.sync", "a.toml line 3"}, {"policies.apply", "b.toml line 7"}};
  EXPECT_THAT(PlanStudy(scenario, problem::BuiltinProblems(), {}, 1, 1).status().message(),
              StartsWith("b.toml line 7: policies.apply: "));
}

TEST(StudyTest, RelayIsRefusedBecauseSimulatedWorkersDoNotStep) {
  Scenario scenario = Tiny();
  scenario.job.apply = "relay";
  EXPECT_THAT(PlanStudy(scenario, problem::BuiltinProblems(), {}, 1, 1).status().message(),
              AllOf(HasSubstr("policies.apply"), HasSubstr("use apply aggregate")));
}

TEST(StudyTest, AMistakeOfOneCellNamesTheCellAndItsOwnKey) {
  Scenario scenario = Tiny();
  scenario.compute.factors = {{5, 2.0}};
  EXPECT_THAT(PlanStudy(scenario, problem::BuiltinProblems(), {{"cluster.workers", {"8", "2"}}}, 1, 1)
                  .status()
                  .message(),
              AllOf(StartsWith("2: "), HasSubstr("compute.factors")));
  EXPECT_THAT(
      PlanStudy(Tiny(), problem::BuiltinProblems(), {{"cluster.servers+cluster.shards", {"4096+256"}}}, 1, 1)
          .status()
          .message(),
      HasSubstr("cluster.shards: "));
}

TEST(StudyTest, AKeyIsSweptOnce) {
  const auto study = PlanStudy(Tiny(), problem::BuiltinProblems(),
                               {{"policies.sync", {"bsp"}}, {"policies.sync", {"asp"}}}, 1, 1);
  EXPECT_THAT(study.status().message(), HasSubstr("policies.sync: got two sweeps"));
}

TEST(StudyTest, ItCanBeStopped) {
  Scenario scenario = Tiny();
  scenario.iterations = 5000;
  auto study = PlanStudy(scenario, problem::BuiltinProblems(), {}, 1, 4);
  const Status status =
      RunStudy(*study, problem::BuiltinProblems(), 2, [](const StudyProgress&) { return false; });
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
}

TEST(StudyTest, WhatWasDoneBeforeItWasStoppedCounts) {
  auto study = PlanStudy(Tiny(), problem::BuiltinProblems(), {}, 1, 4);
  ASSERT_TRUE(study.ok());
  const Status status = RunStudy(*study, problem::BuiltinProblems(), 1,
                                 [](const StudyProgress& progress) { return progress.runs_done < 2; });
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  const std::vector<RunRecord>& records = study->cells[0].records;
  EXPECT_TRUE(records[0].errors.empty());
  EXPECT_TRUE(records[1].errors.empty());
  EXPECT_THAT(records[2].errors, ::testing::ElementsAre("stopped before it began"));
  EXPECT_EQ(records[2].seed, 3U);
  EXPECT_EQ(ErrorsOf(*study).size(), 2U);
  const Figure& seconds = FigureNamed("seconds");
  const double done[] = {records[0].seconds, records[1].seconds};
  EXPECT_EQ(SpreadOf(seconds, records).mean, SpreadOf(done).mean);
}

TEST(FiguresTest, SpreadIsOfWhatIsANumber) {
  const double values[] = {1, 2, 3, NAN};
  const Spread spread = SpreadOf(values);
  EXPECT_DOUBLE_EQ(spread.mean, 2);
  EXPECT_DOUBLE_EQ(spread.deviation, 1);
  EXPECT_DOUBLE_EQ(spread.low, 1);
  EXPECT_DOUBLE_EQ(spread.high, 3);
  EXPECT_EQ(ToText(spread, 3), "2.00 ± 1.00");
  EXPECT_EQ(ToText(spread, 1), "2");
  const double nothing[] = {NAN};
  EXPECT_EQ(ToText(SpreadOf(nothing), 3), "-");
}

TEST(StudyTest, KeysThatGoTogetherAreSetTogether) {
  const Result<Sweep> sweep = ParseSweep("cluster.workers+iterations=8+400;16+200");
  ASSERT_TRUE(sweep.ok());
  const Result<Study> study = PlanStudy({}, problem::BuiltinProblems(), {*sweep}, 1, 1);
  ASSERT_TRUE(study.ok()) << study.status().ToString();
  ASSERT_EQ(study->cells.size(), 2U);
  EXPECT_EQ(study->cells[1].scenario.job.workers, 16U);
  EXPECT_EQ(study->cells[1].scenario.iterations, 200U);
  EXPECT_EQ(study->cells[1].label, "16");
}

TEST(StudyTest, AValueForOneOfTwoKeysIsRefused) {
  const Result<Sweep> sweep = ParseSweep("cluster.workers+iterations=8+400;16");
  ASSERT_TRUE(sweep.ok());
  EXPECT_THAT(PlanStudy({}, problem::BuiltinProblems(), {*sweep}, 1, 1).status().message(),
              HasSubstr("wanted 2 values parted by +"));
}

}  // namespace
}  // namespace leeway::scenario
