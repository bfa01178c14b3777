#include "bench/cluster/train.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bench/cluster/placed_bytes.h"
#include "bench/cluster/train_scenario.h"

namespace leeway::bench {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::HasSubstr;

JobOptions JobOfFour() {
  JobOptions job;
  job.workers = job.servers = 4;
  return job;
}

TEST(TrainTest, ModelsAreNamedAsPeopleNameThem) {
  EXPECT_EQ(TrainModelName("inception_v4"), "inception-v4");
  EXPECT_EQ(TrainModelName("densenet"), "densenet40");
  EXPECT_EQ(TrainModelName("my_own.layers"), "my_own.layers");
  for (const char* name :
       {"resnet56", "resnet110", "resnet50", "inception_v4", "googlenet", "densenet", "vgg16", "alexnet"})
    EXPECT_TRUE(ReadTrainModel(name, 1).ok()) << name;
}

TEST(TrainTest, ScaleDividesTensorsAndRates) {
  const auto tables = ReadTrainModel("alexnet", 8);
  ASSERT_TRUE(tables.ok()) << tables.status().ToString();
  EXPECT_EQ((*tables)[0].shape, std::vector<std::int64_t>{64 * 3 * 121 / 8});
  EXPECT_GT((*tables)[0].multiply_adds, 0U);
  TrainOptions options;
  options.scale = 8;
  EXPECT_EQ(EmulatedRate(options)->bits_s, 125'000'000U);
  options.apart = true;
  EXPECT_EQ(CardsOf(options), 8U);
}

TEST(TrainTest, BytesAreThoseOfTheSchedulersPlacement) {
  const auto tables = ReadTrainModel("inception-v4-slim", 1);
  const auto even = PlacedBytes(JobOfFour(), *tables);
  ASSERT_TRUE(even.ok()) << even.status().ToString();
  EXPECT_THAT(*even, Each(DoubleNear(42'648'232.0, 0.01 * 42'648'232)));
  JobOptions job = JobOfFour();
  job.placement = "round_robin";
  job.block_bytes = 64U << 20;
  const auto uneven = PlacedBytes(job, *tables);
  EXPECT_GT(*std::ranges::max_element(*uneven), 1.5 * 42'648'232);
  job.placement = "nowhere";
  EXPECT_THAT(PlacedBytes(job, *tables).status().message(), HasSubstr("nowhere"));
}

TrainReport ReportOfTwoRuns() {
  TrainReport report;
  report.options.steps = 2;
  report.parameters = 1'727'962;
  const auto rows = ParseTrainRows("wait-free;traditional", JobOfFour());
  for (const TrainRow& row : *rows) report.rows.push_back({.row = row, .turns = {}, .server_bytes = {}});
  report.rows[0].turns = {{.steps_s = 10}, {.steps_s = 10}};
  report.rows[1].turns = {
      {.steps_s = 30, .computing = 0.75, .first_values_s = 0.01, .gbit_s = 0.9, .idle = 0.25},
      {.steps_s = 34, .computing = 0.85, .first_values_s = 0.03, .gbit_s = 0.94, .idle = 0.35}};
  report.rows[1].turns[1].counted = {
      {.rank = 3, .step = 7, .seconds = 0.125, .waited_s = 0.025, .first_values_s = 0.5}};
  report.rows[1].ceiling = 3.5;
  report.stopped = true;
  return report;
}

TEST(TrainTest, AReportHasMediansAndSpeedups) {
  const auto json = nlohmann::json::parse(ToJson(ReportOfTwoRuns()));
  EXPECT_EQ(json["parameters"], 1'727'962);
  EXPECT_EQ(json["stopped"], true);
  const auto& row = json["rows"][1];
  EXPECT_EQ(row["row"], "wait-free");
  EXPECT_DOUBLE_EQ(row["steps_s"], 32);
  EXPECT_DOUBLE_EQ(row["speedup"], 3.2);
  EXPECT_DOUBLE_EQ(row["ceiling"], 3.5);
  EXPECT_DOUBLE_EQ(row["computing"], 0.8);
  EXPECT_DOUBLE_EQ(row["first_values_s"], 0.02);
  EXPECT_DOUBLE_EQ(row["idle"], 0.3);
  EXPECT_EQ(json["rows"][2]["runs"], 0);
  const std::string text = ToText(ReportOfTwoRuns());
  EXPECT_THAT(text, HasSubstr("traditional  no run ended"));
  EXPECT_THAT(text, HasSubstr("first ms"));
  EXPECT_THAT(text, HasSubstr("stopped before all runs were done"));
}

TEST(TrainTest, StepsAreLinesOfJson) {
  const std::string lines = StepLines(ReportOfTwoRuns());
  const auto step = nlohmann::json::parse(lines);
  EXPECT_EQ(step["row"], "wait-free");
  EXPECT_EQ(step["run"], 1);
  EXPECT_EQ(step["rank"], 3);
  EXPECT_DOUBLE_EQ(step["seconds"], 0.125);
  EXPECT_DOUBLE_EQ(step["first_values_s"], 0.5);
}

TEST(TrainTest, LinesOfAWorkerAreReadAsTheyWereWritten) {
  TrainStep step;
  ASSERT_TRUE(ReadLine(
      LineOf(TrainStep{.rank = 2, .step = 5, .seconds = 0.25, .waited_s = 0.125, .first_values_s = 0.5}),
      step));
  EXPECT_EQ(step.rank, 2U);
  EXPECT_EQ(step.step, 5U);
  EXPECT_DOUBLE_EQ(step.seconds, 0.25);
  EXPECT_DOUBLE_EQ(step.waited_s, 0.125);
  EXPECT_DOUBLE_EQ(step.first_values_s, 0.5);
  TrainTotals totals;
  EXPECT_FALSE(ReadLine("step 1 2 3 4", totals));
  ASSERT_TRUE(ReadLine(LineOf(TrainTotals{.bytes_sent = 1e10,
                                          .bytes_received = 7,
                                          .exchanges = 0.5,
                                          .communication_s = 1.5,
                                          .waited_s = 0.25}),
                       totals));
  EXPECT_DOUBLE_EQ(totals.bytes_sent, 1e10);
  EXPECT_DOUBLE_EQ(totals.exchanges, 0.5);
  EXPECT_DOUBLE_EQ(totals.communication_s, 1.5);
  EXPECT_DOUBLE_EQ(totals.waited_s, 0.25);
}

TEST(TrainTest, ARowAloneHasNoScenario) {
  TrainOptions options;
  options.rows = *ParseTrainRows("alone", JobOfFour());
  EXPECT_THAT(TrainScenario(options).status().message(), HasSubstr("got the row \"alone\" only"));
  options.rows = *ParseTrainRows("wait-free", JobOfFour());
  const auto text = TrainScenario(options);
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  EXPECT_THAT(*text, HasSubstr("together = true"));
  EXPECT_THAT(*text, HasSubstr("problem = \"ghost:model=resnet110,grain=1\""));
  EXPECT_THAT(*text, HasSubstr("=true+0.333"));
}

TEST(TrainTest, AScenarioOfOneRowKeepsItsCommas) {
  TrainOptions options;
  options.rows = *ParseTrainRows("wait-free sync=pssp:3,0.5", JobOfFour());
  EXPECT_THAT(*TrainScenario(options), HasSubstr("+pssp:3,0.5+"));
  EXPECT_THAT(*TrainScenario(options), HasSubstr(";\"]\nlabels"));
}

TEST(TrainTest, AScenarioHasTheCutOfItsRows) {
  TrainOptions options;
  options.rows = *ParseTrainRows("wait-free cut=4", JobOfFour());
  EXPECT_THAT(*TrainScenario(options), HasSubstr("problem = \"ghost:model=resnet110,grain=1,cut=4\""));
  options.rows = *ParseTrainRows("wait-free cut=4; wait-free", JobOfFour());
  EXPECT_THAT(*TrainScenario(options),
              HasSubstr("+ghost:model=resnet110,grain=1,cut=4;true+0.3333333333333333+"));
}

}  // namespace
}  // namespace leeway::bench
