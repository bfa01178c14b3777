#include "status/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "status/job_status.h"
#include "status/same_batches.h"
#include "status/status_text.h"
#include "status/who_waits.h"

namespace leeway::app {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// The status of a job of two workers and one server in the middle of its work.
std::string StatusOf(const std::string& phase, double samples, double done) {
  return R"({"job":"j","phase":")" + phase + R"(","epoch":3,"uptime_s":20,"training_s":16,
    "workers":[{"rank":0,"state":"joined","iteration":100,"figures":{"samples":)" +
         std::to_string(samples) +
         R"(,"wait_s":4,"wait_pull_s":3,"compute_s":10,"answers":100,"lead_sum":50,"bytes_sent":2000000}},
               {"rank":1,"state":"joined","iteration":90,"figures":{"samples":100,"wait_s":0,"compute_s":36,"answers":100}}],
    "shards":[{"shard":0,"server":0,"state":"up","figures":{"summed":60,"dpr":7,"pulls":70,"staleness_sum":60,"staleness_gradients":60,"staleness.1":60,"staleness_sum.0":60,"staleness_gradients.0":60}},
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

TEST(JobStatusTest, TheLastCheckpointIsRead) {
  const JobStatus status = *ParseJobStatus(
      R"({"job":"j","checkpoints":{"folder":"/c","completed":3,"given_up":1,"last_failure":"full",
          "last":{"checkpoint":4,"iteration":90,"folder":"/c/checkpoint-00000004","age_s":2.5}}})");
  EXPECT_EQ(status.checkpoints.completed, 3U);
  EXPECT_EQ(status.checkpoints.last_iteration, 90);
  EXPECT_THAT(CheckpointsLine(status.checkpoints),
              AllOf(HasSubstr("3 whole"), HasSubstr("1 given up"), HasSubstr("full"),
                    HasSubstr("/c/checkpoint-00000004"), HasSubstr("iteration 90")));
  EXPECT_EQ(CheckpointsLine({}), "");
  EXPECT_TRUE(ParseJobStatus(R"({"checkpoints":[1]})").ok());
}

TEST(JobStatusTest, OddTypesAndBrokenTextAreNoReasonToFall) {
  const Result<JobStatus> odd =
      ParseJobStatus(R"({"phase":7,"workers":[3,{"rank":"x","figures":{"a":"b"}}],"pools":{}})");
  ASSERT_TRUE(odd.ok());
  EXPECT_EQ(odd->workers.size(), 1U);
  EXPECT_FALSE(ParseJobStatus("{\"phase\":").ok());
  EXPECT_FALSE(ParseJobStatus("[]").ok());
}

TEST(SummaryTest, WhatMattersComesFirstAndShardsAddUp) {
  EXPECT_EQ(SummaryText(GoodOutcome()), R"(Job done after 23.0 s (start 1.0 s, scripts 20.0 s, end 2.0 s)
  1000 samples in 16.0 s of training: 62 samples/s
  slowest worker: w1, 4.0 times the median per step
  1 table, 1000 values in 4 blocks; ssp:3 + immediate + sgd

  time of all workers                   seconds  share
  ----------------------------------------------------
  compute                                  46.0  115 %
  wait                                      4.0   10 %
    for pull                                3.0    8 %
  outside of steps (start, evaluation)      0.0    0 %

  worker  steps  samples  samples/s  s/step  wait s  wait %  staleness   state
  ----------------------------------------------------------------------------
  w0        100      900         56   0.100     4.0    25 %        1.0  joined
  w1         90      100          6   0.400     0.0     0 %          -  joined

  server  pushes  pulls  DPRs  advances   in  out
  -----------------------------------------------
  s0         100    100    10         0  0 B  0 B

  account of the job
  -----------------------------------------------------------------------
  staleness           mean 1.0, p95 1 versions, of 60 gradients of blocks
  counts              10 DPRs
)");
}

TEST(SummaryTest, NoLineIsLongerThanATerminal) {
  Outcome outcome = GoodOutcome();
  for (int i = 0; i < 40; ++i) {
    const std::string table = "wait.table.model.decoder.layers." + std::to_string(i) + ".weight";
    outcome.status->workers[0].figures[table] = i;
    outcome.status->workers[0].figures["wait.worker." + std::to_string(i)] = 1000 * i;
    outcome.status->tables.push_back(outcome.status->tables[0]);
    outcome.status->tables.back().sync = "ssp:" + std::to_string(i);
    outcome.events.Add(EventKind::kLost, "server 1",
                       "died, and another process has taken its place; the workers sent again what was lost");
  }
  std::istringstream lines(SummaryText(outcome));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST(SummaryTest, ATableWhoseNameLooksLikeSecondsIsNoPhase) {
  Outcome outcome = GoodOutcome();
  outcome.status->workers[0].figures["wait.table.conv_s"] = 7;
  EXPECT_THAT(SummaryText(outcome), Not(HasSubstr("wait.table")));
  EXPECT_THAT(SummaryText(outcome), HasSubstr("conv_s 7.0 s"));
}

TEST(SummaryTest, WhatAWorkerKeptBackAsLateIsInTheCountsAndInTheTotal) {
  Outcome outcome = GoodOutcome();
  outcome.status->workers[0].figures["skipped_late"] = 31;
  outcome.status->workers[0].figures["late_dropped"] = 2;
  outcome.status->shards[0].figures["late_dropped"] = 2;
  EXPECT_THAT(SummaryText(outcome), HasSubstr("2 late pushes dropped, 31 late pushes not sent\n"));
  EXPECT_EQ(nlohmann::json::parse(SummaryJson(outcome))["totals"]["late_dropped"], 33);
}

TEST(SummaryTest, AServerIsNamedOnlyWhereItsPolicyDiffers) {
  Outcome outcome = GoodOutcome();
  TableStatus& table = outcome.status->tables[0];
  table.sync = "bsp";
  table.apply = "";
  TableOnServer& row = table.servers.emplace_back();
  row.sync = "bsp";
  row.apply = "aggregate";
  EXPECT_THAT(SummaryText(outcome), AllOf(HasSubstr("bsp + aggregate + sgd"), Not(HasSubstr("on server"))));
  row.apply = "aggregate:reduce=ordered";
  EXPECT_THAT(SummaryText(outcome), HasSubstr("bsp +\n    aggregate:reduce=ordered on server 0"));
}

TEST(SummaryTest, TablesWithAClockOfTheirOwnAreCountedApart) {
  Outcome outcome = GoodOutcome();
  EXPECT_THAT(SummaryText(outcome), Not(HasSubstr("clock of")));
  outcome.status->tables.push_back(
      ParseJobStatus(
          R"({"tables":[{"name":"broadcast.0","clock":"own","sync":"bsp","elements":7,"blocks":1}]})")
          ->tables[0]);
  const std::string text = SummaryText(outcome);
  EXPECT_THAT(text, AllOf(HasSubstr("1 table, 1000 values in 4 blocks; ssp:3 + immediate + sgd;"),
                          ContainsRegex("and 1 with a clock\\s+of its own"), Not(HasSubstr("bsp"))));
}

TEST(SummaryTest, SamplesThatNobodyCountedAreSaidToBeSteps) {
  Outcome outcome = GoodOutcome();
  EXPECT_THAT(SummaryText(outcome), Not(HasSubstr("opt.samples")));
  for (WorkerStatus& worker : outcome.status->workers)
    worker.figures["samples"] = static_cast<double>(worker.iteration);
  EXPECT_THAT(SummaryText(outcome),
              HasSubstr("190 samples in 16.0 s of training: 12 samples/s (a step counts as 1"));
}

TEST(SummaryTest, AJobThatResumedCountsItsOwnStepsAlone) {
  Outcome outcome = GoodOutcome();
  for (WorkerStatus& worker : outcome.status->workers) {
    worker.iteration = 1100;
    for (const char* figure : {"steps", "samples"}) worker.figures[figure] = 100;
    worker.figures["compute_s"] = 50;
  }
  EXPECT_THAT(SummaryText(outcome),
              AllOf(HasSubstr("(a step counts as 1"), ContainsRegex("w0 +100 +100 +[0-9]+ +0.500")));
}

TEST(SummaryTest, AJobWithoutSamplesIsToldInStepsOrNotAtAll) {
  Outcome outcome = GoodOutcome();
  for (WorkerStatus& worker : outcome.status->workers) worker.figures.erase("samples");
  EXPECT_THAT(SummaryText(outcome),
              AllOf(HasSubstr("  190 steps in 16.0 s of training; workers"), Not(HasSubstr("0 samples"))));
  outcome.status->training_s = 0.004;
  EXPECT_THAT(SummaryText(outcome), HasSubstr("  190 steps in less than 0.1 s of training; workers"));
  for (WorkerStatus& worker : outcome.status->workers) worker.iteration = -1;
  EXPECT_THAT(SummaryText(outcome), Not(HasSubstr("of training")));
}

TEST(StatusJsonTest, TheAccountIsAddedToWhatTheSchedulerSaid) {
  const auto json = nlohmann::json::parse(StatusJson(StatusOf("running", 300, 50)));
  EXPECT_EQ(json["phase"], "running");
  EXPECT_EQ(json["account"]["dpr"], 10);
  EXPECT_EQ(StatusJson("{"), "{");
}

TEST(SummaryTest, LivesAreToldWhenAWorkerHadMoreThanOneOrEndedBadly) {
  Outcome outcome = GoodOutcome();
  outcome.lives = WorkerLives(2, {.restarts = 1});
  for (const std::uint32_t rank : {0U, 1U}) outcome.lives.Start(rank, LifeBegan::kStart);
  outcome.lives.End(0, {0, 0}, false);
  outcome.lives.End(1, {0, 0}, false);
  EXPECT_THAT(SummaryText(outcome), Not(HasSubstr("how each ended")));
  outcome.lives.End(1, {137, 9}, false);
  EXPECT_THAT(SummaryText(outcome),
              AllOf(HasSubstr("Job done"), HasSubstr("1 of 2 workers lost"),
                    ::testing::ContainsRegex("w1 +1 +0 +0 +lost: exit code 137 .signal 9")));
  outcome.lives.Start(1, LifeBegan::kRestart);
  outcome.lives.End(1, {0, 0}, false);
  EXPECT_THAT(SummaryText(outcome), AllOf(ContainsRegex(", then\n +done"), Not(HasSubstr("workers lost"))));
  const auto worker = nlohmann::json::parse(SummaryJson(outcome))["workers"][1];
  EXPECT_EQ(worker["restarts"], 1);
  EXPECT_EQ(worker["lives"][0]["signal"], 9);
  EXPECT_EQ(worker["lives"][1]["began"], "restart");
}

TEST(SummaryTest, LostPushesAreThoseOfWorkersThatDiedToo) {
  Outcome outcome = GoodOutcome();
  EXPECT_THAT(SummaryText(outcome), Not(HasSubstr("pushes were lost")));
  outcome.status->lacking_lost = 5;
  outcome.status->lacking_torn = 2;
  EXPECT_THAT(SummaryText(outcome), HasSubstr("5 pushes were lost"));
  const auto totals = nlohmann::json::parse(SummaryJson(outcome))["totals"];
  EXPECT_EQ(totals["lost"], 5);
  EXPECT_EQ(totals["torn"], 2);
  const JobStatus status = *ParseJobStatus(R"({"lacking": {"lost": 4, "torn": 1}, "served": true})");
  EXPECT_EQ(status.Lost(), 4);
  EXPECT_EQ(status.lacking_torn, 1U);
  EXPECT_TRUE(status.served);
}

TEST(WhoWaitsTest, EveryWorkerAndShardHasItsRow) {
  const std::string text = WhoWaitsText(std::string(
      R"({"phase":"running","workers":[{"rank":0,"state":"joined","iteration":7,"waiting_for":"values of w",
           "now":{"waits_on":"values","server":1}},
          {"rank":1,"state":"suspect","silent_s":4.25}],
          "shards":[{"shard":2,"server":1,"state":"up","waiting_for":"worker 1"}]})"));
  EXPECT_THAT(text, ::testing::ContainsRegex("w0 +7 +0.0  waits for s1: values of w\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("w1 +0 +4.2  silent for 4.2 s; before: runs\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("s1 shard 2 +up: worker 1\n"));
  EXPECT_THAT(WhoWaitsText(std::string("{")), HasSubstr("no JSON"));
}

TEST(SummaryTest, AFailedJobNeedsNoStatusAndLeavesTheReasonToTheLastLine) {
  Outcome outcome;
  outcome.exit_code = 3;
  outcome.why = "worker 1 ended with exit code 3";
  EXPECT_THAT(SummaryText(outcome),
              AllOf(HasSubstr("Job failed"), Not(HasSubstr("exit code 3")), Not(HasSubstr("server"))));
  EXPECT_EQ(nlohmann::json::parse(SummaryJson(outcome))["exit_code"], 3);
  EXPECT_EQ(nlohmann::json::parse(SummaryJson(outcome))["why"], outcome.why);
}

TEST(SummaryTest, AFailedJobIsToldOfInShortAndAStopThatWasAskedForIsNoFailure) {
  Outcome outcome = GoodOutcome();
  outcome.exit_code = 130;
  outcome.why = "stopped by Ctrl-C";
  const std::string failed = SummaryText(outcome);
  EXPECT_THAT(failed, AllOf(HasSubstr("Job failed"), Not(HasSubstr("DPRs"))));
  outcome.stopped = true;
  EXPECT_THAT(SummaryText(outcome), AllOf(HasSubstr("Job stopped"), HasSubstr("stopped by Ctrl-C"),
                                          Not(HasSubstr("failed")), HasSubstr("DPRs")));
  EXPECT_EQ(nlohmann::json::parse(SummaryJson(outcome))["stopped"], true);
}

TEST(SummaryTest, TheJsonHoldsTotalsAndTheLastStatus) {
  const auto json = nlohmann::json::parse(SummaryJson(GoodOutcome()));
  EXPECT_EQ(json["totals"]["dpr"], 10);
  EXPECT_EQ(json["totals"]["training_s"], 16);
  EXPECT_EQ(json["totals"]["samples_per_s"], 62.5);
  EXPECT_EQ(json["times"]["train_s"], 20);
  EXPECT_EQ(json["status"]["phase"], "ended");
}

// One worker for each digest of first gradients; an empty one has reported none.
std::string HintFor(const std::vector<std::string>& digests) {
  std::string workers;
  for (std::size_t rank = 0; rank < digests.size(); ++rank) {
    workers += (rank == 0 ? "" : ",") + (R"({"rank":)" + std::to_string(rank)) + R"(,"figures":{)" +
               (digests[rank].empty() ? "" : R"("first_gradients":)" + digests[rank]) + "}}";
  }
  return SameBatchesText(*ParseJobStatus(R"({"job":"j","workers":[)" + workers + "]}"));
}

TEST(SameBatchesTest, WorkersWithTheSameFirstGradientsAreNamedWithTheCure) {
  EXPECT_THAT(
      HintFor({"281474976710655", "7", "281474976710655"}),
      AllOf(HasSubstr("w0 and w2 have the same"), HasSubstr("DistributedSampler"), HasSubstr("BatchPool")));
  EXPECT_THAT(HintFor(std::vector<std::string>(11, "7")), HasSubstr("w6, w7 and 3 more have"));
}

TEST(SameBatchesTest, OthersAreNot) {
  EXPECT_EQ(HintFor({"281474976710655", "281474976710654"}), "");
  EXPECT_EQ(HintFor({"", "", "7"}), "");
}

TEST(JudgeEndTest, AJobThatEndedByItselfIsJudgedByWhoJoinedAndWhoWasLost) {
  Outcome nobody;
  nobody.status = JobStatus();
  JudgeEnd(nobody, false);
  EXPECT_EQ(nobody.exit_code, ExitCode({StatusCode::kFailedPrecondition, ""}));
  EXPECT_THAT(nobody.why, HasSubstr("never called lw.init()"));

  Outcome lost;
  lost.lives = WorkerLives(1, {});
  lost.lives.Start(0, LifeBegan::kStart);
  lost.lives.End(0, {137, 9}, false);
  JudgeEnd(lost, true);
  EXPECT_EQ(lost.exit_code, 0) << "the user accepts losses";
  JudgeEnd(lost, false);
  EXPECT_EQ(lost.exit_code, 137);
  EXPECT_EQ(lost.lost_rank, 0U);
}

}  // namespace
}  // namespace leeway::app
