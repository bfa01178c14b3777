#include "status/account_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "status/staleness.h"
#include "status/sync_text.h"

namespace leeway::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

JobStatus Parse(const std::string& json) {
  const Result<JobStatus> status = ParseJobStatus(json);
  EXPECT_TRUE(status.ok()) << status.status().ToString();
  return *status;
}

TEST(AccountTextTest, WhereAWorkerBeginsLateNoGradientIsMissing) {
  const JobStatus status = Parse(
      R"({"shards": [{"shard": 0, "server": 0, "figures": {"absent": 16, "absent_before": 16, "dpr": 1}},
                           {"shard": 1, "server": 1, "figures": {"dpr": 1}}]})");
  EXPECT_THAT(AccountText(status), Not(HasSubstr("absent")));
  EXPECT_EQ(AccountJson(status)["absent"], 0);
}

TEST(AccountTextTest, SaysWhomWorkersWaitedForAndHowStaleGradientsWere) {
  const JobStatus status = Parse(R"({"training_s": 10,
      "workers": [{"rank": 0, "figures": {"wait.server.0": 1.5, "wait.worker.3": 1.5, "wait.table.fc": 2.5, "skipped_blocks": 4, "copied_gradients": 6, "rebound_parameters": 0, "wait.block.fc/1": 2, "wait.step.barrier": 3, "connected.local": 2,
                   "answers": 4, "lead_sum": 10, "samples": 30}},
                  {"rank": 1, "figures": {"wait.server.0": 1, "wait.server.1": 9, "wait.worker.3": 8, "wait.worker.2": 1, "lead_used.1": 5, "wait.block.fc/1": 0.5, "connected.tcp": 1, "connected.local": 1}}],
      "shards": [{"shard": 0, "server": 0, "figures": {"waited_for.3": 7, "waited_for.others": 0.5, "dpr": 11, "dpr.2": 8, "dpr.0": 3,
                  "lead_read.0": 9, "lead_read.16": 1, "staleness.2": 3, "staleness_gradients": 3, "staleness_sum": 6,
                  "staleness_gradients.1": 3, "staleness_sum.1": 6, "late_dropped": 2}}]})");
  EXPECT_EQ(AccountText(status), R"(  account of the job
  ------------------------------------------------------------------------------
  waited for               w3 9.5 s, w2 1.0 s, servers and network 1.0 s
    by server              s1 9.0 s, s0 2.5 s
    by table               fc 2.5 s
  waited at step barriers  3.0 s
  staleness                mean 2.0, p95 2 versions, of 3 gradients of blocks
  lead                     mean 2.5 iterations; 0: 90 %, 16+: 10 %
  DPRs of worker           w2 8, w0 3
  counts                   11 DPRs, 2 late pushes dropped, 4 blocks skipped,
                           6 gradients copied into the arena
  connections              local 3, tcp 1
)");
  const nlohmann::json json = AccountJson(status);
  EXPECT_EQ(json["wait_by_server"]["0"], 2.5);
  EXPECT_EQ(json["wait_by_worker"]["3"], 9.5);
  EXPECT_EQ(json["held_block_s_by_worker"]["3"], 7);
  EXPECT_EQ(json["wait_by_block"]["fc/1"], 2.5);
  EXPECT_EQ(json["wait_at_step_barriers_s"], 3);
  EXPECT_EQ(json["staleness_mean"], 2);
  EXPECT_EQ(json["staleness_p95"], 2);
  EXPECT_EQ(json["staleness_counts"]["2"], 3);
  EXPECT_EQ(json["staleness_of_worker"]["1"], 2);
  EXPECT_EQ(json["lead_mean"], 2.5);
  EXPECT_EQ(json["lead_read"]["16"], 1);
  EXPECT_EQ(json["lead_used"]["1"], 5);
  EXPECT_EQ(json["training_s"], 10);
  EXPECT_EQ(json["samples_per_s"], 3);
  EXPECT_EQ(json["connected_over"]["local"], 3);
  EXPECT_EQ(json["dpr"], 11);
  EXPECT_EQ(json["dpr_of_worker"]["2"], 8);
}

TEST(AccountTextTest, TheP95IsTheLeastStalenessThatOnly5PercentAreBeyond) {
  JobStatus status;
  status.shards = {{.figures = {{"staleness_gradients", 100},
                                {"staleness_sum", 150},
                                {"staleness.0", 94},
                                {"staleness.9", 1},
                                {"staleness.40", 5}}}};
  EXPECT_EQ(StalenessOf(status)->p95, 9);
  EXPECT_EQ(StalenessOf(status)->mean, 1.5);
  EXPECT_FALSE(MeanStalenessOf(status, 0)) << "no server names the worker";
  EXPECT_FALSE(StalenessOf({})) << "no gradient came yet";
}

TEST(AccountTextTest, FiguresThatNobodyReportsHaveNoLine) {
  EXPECT_EQ(AccountText(Parse(R"({"workers": [{"rank": 0, "figures": {"samples": 3}}]})")), "");
  // An unknown figure is no reason to fail.
  EXPECT_EQ(AccountText(Parse(R"({"shards": [{"figures": {"lead_read.x": 3}}]})")), "");
}

TEST(AccountTextTest, WhatServersHeldUpIsNoTimeOfWorkers) {
  const JobStatus status = Parse(R"({"tables": [{"name": "fc", "servers": [{"server": 0, "waited_s": 1.25},
                                                                          {"server": 1, "waited_s": 1}]}]})");
  EXPECT_EQ(AccountText(status), "");
  EXPECT_EQ(AccountJson(status)["held_block_s_by_table"]["fc"], 2.25);
  EXPECT_TRUE(AccountJson(status)["wait_by_table"].empty()) << "no worker says that it waited";
}

TEST(SyncTextTest, ARowForEachTableAndModel) {
  const JobStatus status = Parse(R"({"workers": [{"rank": 0, "figures": {"wait.table.fc": 1.5}}],
      "tables": [{"name": "fc", "sync": "bsp", "servers": [
         {"server": 0, "sync": "bsp", "apply": "", "v_train": 7, "v_train_max": 7, "dpr": 5},
         {"server": 1, "sync": "ssp:3", "apply": "ordered", "v_train": 7, "v_train_max": 9},
         {"server": 2, "sync": "bsp", "apply": "", "v_train": 6, "v_train_max": 7, "dpr": 1}]}],
      "more_tables": [{"server": 0, "tables": 12, "v_train": 3, "v_train_max": 4}]})");
  EXPECT_EQ(SyncText(status, 40), R"(  table           server            model  v_train  DPRs  waited s
  ----------------------------------------------------------------
  fc                s0,2              bsp      6+1     6       1.5
  fc                  s1  ssp:3 + ordered      7+2     0       0.0
  12 more tables      s0                       3+1     0       0.0
)");
  EXPECT_THAT(SyncText(status, 1), HasSubstr("... 2 more"));
  EXPECT_EQ(SyncRows(status), 3U);
  EXPECT_EQ(SyncText(Parse(R"({"tables": [{"name": "fc"}]})"), 40), "") << "no server has said anything yet";
}

TEST(SyncTextTest, TablesWithAClockOfTheirOwnHaveNoRow) {
  const JobStatus status =
      Parse(R"({"tables": [{"name": "fc", "clock": "job", "servers": [{"server": 0, "sync": "bsp"}]},
      {"name": "broadcast.0", "clock": "own", "servers": [{"server": 0, "sync": "bsp"}]}]})");
  EXPECT_EQ(SyncRows(status), 1U);
  EXPECT_THAT(SyncText(status, 40), Not(HasSubstr("broadcast")));
}

TEST(SyncTextTest, AServerIsNamedWhenItIsDownOrSilent) {
  const JobStatus status = Parse(R"({"shards": [{"shard": 0, "server": 0, "state": "up", "report_age_s": 0.7},
      {"shard": 1, "server": 1, "state": "lost"}, {"shard": 2, "server": 1, "state": "up", "report_age_s": 8}]})");
  EXPECT_EQ(ServersText(status), "  s1 shard 1: lost\n  s1 shard 2: last report 8 s ago\n");
}

}  // namespace
}  // namespace leeway::app
