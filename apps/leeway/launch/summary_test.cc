#include "launch/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "launch/job_status.h"
#include "launch/progress.h"

namespace leeway::app {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// What a scheduler says of a job of two workers and one server in the middle of its work.
std::string StatusOf(const std::string& phase, double samples, double done) {
  return R"({"job":"j","phase":")" + phase + R"(","epoch":3,"uptime_s":20,
    "workers":[{"rank":0,"state":"joined","iteration":100,"figures":{"samples":)" +
         std::to_string(samples) +
         R"(,"wait_s":4,"wait_pull_s":3,"compute_s":10,"answers":100,"staleness_sum":50,"bytes_sent":2000000}},
               {"rank":1,"state":"joined","iteration":90,"figures":{"samples":100,"wait_s":0,"compute_s":36,"answers":100}}],
    "shards":[{"shard":0,"server":0,"state":"up","figures":{"summed":60,"dpr":7,"pulls":70}},
              {"shard":1,"server":0,"state":"up","figures":{"summed":40,"dpr":3,"pulls":30}}],
    "tables":[{"name":"w","elements":1000,"blocks":4,"sync":"ssp:3","apply":"immediate","optimizer":"sgd"}],
    "pools":[{"name":"p","batches":200,"leased":20,"done":)" +
         std::to_string(done) + "}]}";
}

Outcome GoodOutcome() {
  Outcome outcome;
  outcome.times = {1, 20, 2};
  outcome.status_json = StatusOf("ended", 900, 200);
  outcome.status = *ParseJobStatus(outcome.status_json);
  return outcome;
}

TEST(JobStatusTest, FieldsAreReadAndStrangersSkipped) {
  const Result<JobStatus> status = ParseJobStatus(StatusOf("running", 300, 50));
  ASSERT_TRUE(status.ok()) << status.status().ToString();
  EXPECT_EQ(status->phase, "running");
  ASSERT_EQ(status->workers.size(), 2U);
  EXPECT_EQ(status->workers[1].iteration, 90);
  EXPECT_EQ(status->OfWorkers("samples"), 400);
  EXPECT_EQ(status->OfShards("dpr"), 10);
  EXPECT_EQ(status->pools.at(0).done, 50U);
}

TEST(JobStatusTest, OddTypesAndBrokenTextAreNoReasonToFall) {
  const Result<JobStatus> odd =
      ParseJobStatus(R"({"phase":7,"workers":[3,{"rank":"x","figures":{"a":"b"}}],"pools":{}})");
  ASSERT_TRUE(odd.ok());
  EXPECT_EQ(odd->workers.size(), 1U);
  EXPECT_FALSE(ParseJobStatus("{\"phase\":").ok());
  EXPECT_FALSE(ParseJobStatus("[]").ok());
}

TEST(ProgressTest, TheBarShowsShareRateSlowestAndStaleness) {
  Progress progress(2);
  progress.Add(*ParseJobStatus(StatusOf("running", 300, 50)), 10);
  progress.Add(*ParseJobStatus(StatusOf("running", 1300, 100)), 20);
  const std::string bar = progress.Bar(20);
  EXPECT_THAT(bar, AllOf(HasSubstr("[============>           ]  50%"), HasSubstr("step 90"),
                         HasSubstr("100 samples/s"), HasSubstr("slowest w1 4.0x"), HasSubstr("0:10 left")));
  EXPECT_THAT(progress.Line(20),
              AllOf(HasSubstr("20 s  50%"), HasSubstr("samples/s"), HasSubstr("staleness 0.2")));
}

TEST(ProgressTest, BeforeTheJobRunsItSaysSo) {
  Progress progress(2);
  EXPECT_THAT(progress.Bar(0), HasSubstr("starting"));
  progress.Add(*ParseJobStatus(R"({"phase":"gathering","workers":[{"rank":0,"state":"joined"}]})"), 1);
  EXPECT_THAT(progress.Bar(1), HasSubstr("gathering: 1 of 2 workers"));
}

TEST(SummaryTest, TheTablesAddUpShardsAndNameWaitsByCause) {
  const std::string text = SummaryText(GoodOutcome());
  EXPECT_THAT(text, AllOf(HasSubstr("Job done after 23.0 s"), HasSubstr("ssp:3 + immediate + sgd"),
                          HasSubstr("for pull"), HasSubstr("1000 samples")));
  EXPECT_THAT(text, ::testing::ContainsRegex("s0 +100 +0 +0 +0 +100 +10 +10 %"));
  EXPECT_THAT(text, ::testing::ContainsRegex("w0 +100 +900 .* 20 % +0.50"));
}

TEST(SummaryTest, AFailedJobSaysWhyAndNeedsNoStatus) {
  Outcome outcome;
  outcome.exit_code = 3;
  outcome.why = "worker 1 ended with exit code 3";
  EXPECT_THAT(SummaryText(outcome),
              AllOf(HasSubstr("Job failed"), HasSubstr("exit code 3"), Not(HasSubstr("server"))));
  EXPECT_EQ(nlohmann::json::parse(SummaryJson(outcome))["exit_code"], 3);
}

TEST(SummaryTest, TheJsonHoldsTotalsAndTheLastStatus) {
  const auto json = nlohmann::json::parse(SummaryJson(GoodOutcome()));
  EXPECT_EQ(json["totals"]["dpr"], 10);
  EXPECT_EQ(json["times"]["train_s"], 20);
  EXPECT_EQ(json["status"]["phase"], "ended");
}

}  // namespace
}  // namespace leeway::app
