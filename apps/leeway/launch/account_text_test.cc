#include "launch/account_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "launch/sync_text.h"

namespace leeway::app {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

JobStatus Parse(const std::string& json) {
  const Result<JobStatus> status = ParseJobStatus(json);
  EXPECT_TRUE(status.ok()) << status.status().ToString();
  return *status;
}

TEST(AccountTextTest, SaysWhatWasWaitedForAndHowOldThingsWere) {
  const JobStatus status = Parse(R"({
      "workers": [{"rank": 0, "figures": {"wait.server.0": 1.5, "wait.table.fc": 2.5, "skipped_blocks": 4, "copied_gradients": 6, "rebound_parameters": 0, "wait.block.fc/1": 2, "wait.step.barrier": 3, "connected.local": 2}},
                  {"rank": 1, "figures": {"wait.server.0": 1, "wait.server.1": 9, "staleness.1": 5, "wait.block.fc/1": 0.5, "connected.tcp": 1, "connected.local": 1}}],
      "shards": [{"shard": 0, "server": 0, "figures": {"waited_for.3": 7, "waited_for.others": 0.5, "dpr": 11, "dpr.2": 8, "dpr.0": 3,
                  "staleness_read.0": 9, "staleness_read.16": 1, "staleness_applied.2": 3, "late_dropped": 2}}]})");
  const std::string text = AccountText(status);
  EXPECT_THAT(text, HasSubstr("s1 9.0 s, s0 2.5 s"));
  EXPECT_THAT(text, HasSubstr("fc 2.5 s"));
  EXPECT_THAT(text, ::testing::ContainsRegex("waits by block +fc/1 2.5 s"));
  EXPECT_THAT(text, ::testing::ContainsRegex("waits at barriers of steps +3.0 s"));
  EXPECT_THAT(text, ::testing::ContainsRegex("block-seconds .* for worker +w3 7.0 s, others 0.5 s"));
  EXPECT_THAT(text, HasSubstr("w2 8, w0 3"));
  EXPECT_THAT(text, ::testing::ContainsRegex("connections to shards, by carrier +local 3, tcp 1"));
  EXPECT_THAT(text, HasSubstr("0: 90 %, 16+: 10 %"));
  EXPECT_THAT(text, HasSubstr("2: 100 %"));
  EXPECT_THAT(text, AllOf(HasSubstr("11 DPRs (per shard)"), HasSubstr("2 late pushes dropped"),
                          HasSubstr("4 blocks skipped"), HasSubstr("6 gradients copied into the arena")));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("exchanges skipped")), Not(HasSubstr("parameters put back"))));
  const nlohmann::json json = AccountJson(status);
  EXPECT_EQ(json["wait_by_server"]["0"], 2.5);
  EXPECT_EQ(json["held_block_s_by_worker"]["3"], 7);
  EXPECT_EQ(json["wait_by_block"]["fc/1"], 2.5);
  EXPECT_EQ(json["wait_at_step_barriers_s"], 3);
  EXPECT_EQ(json["staleness_read"]["16"], 1);
  EXPECT_EQ(json["staleness_used"]["1"], 5);
  EXPECT_EQ(json["connected_over"]["local"], 3);
  EXPECT_EQ(json["dpr"], 11);
  EXPECT_EQ(json["dpr_of_worker"]["2"], 8);
}

TEST(AccountTextTest, FiguresThatNobodyReportsHaveNoLine) {
  EXPECT_EQ(AccountText(Parse(R"({"workers": [{"rank": 0, "figures": {"samples": 3}}]})")), "");
  // What is no figure of ours is no reason to fail.
  EXPECT_EQ(AccountText(Parse(R"({"shards": [{"figures": {"staleness_read.x": 3}}]})")), "");
}

TEST(AccountTextTest, WhatServersHeldUpIsAddedUpOverBlocksAndSaysSo) {
  const JobStatus status = Parse(R"({"tables": [{"name": "fc", "servers": [{"server": 0, "waited_s": 1.25},
                                                                          {"server": 1, "waited_s": 1}]}]})");
  EXPECT_THAT(AccountText(status), ::testing::ContainsRegex("block-seconds .* by table +fc 2.2 s"));
  EXPECT_EQ(AccountJson(status)["held_block_s_by_table"]["fc"], 2.25);
  EXPECT_TRUE(AccountJson(status)["wait_by_table"].empty()) << "no worker says that it waited";
}

TEST(SyncTextTest, ARowForEachTableAndServer) {
  const std::string text = SyncText(Parse(R"({"rules": ["server=1 sync=ssp:3"],
      "tables": [{"name": "fc", "sync": "bsp", "servers": [
         {"server": 0, "sync": "bsp", "apply": "", "v_train": 7, "v_train_max": 7, "fastest": 8, "slowest": 6, "dpr": 5,
          "waiting": 1, "waiting_for": "worker 0 waits with progress 7 for iteration 7 to end, which lacks worker 1"},
         {"server": 1, "sync": "ssp:3", "apply": "immediate", "v_train": 7, "v_train_max": 9, "fastest": -1,
          "slowest": -1}]}],
      "more_tables": [{"server": 0, "tables": 12, "v_train": 3, "v_train_max": 4}]})"));
  EXPECT_THAT(text, HasSubstr("rule: server=1 sync=ssp:3"));
  EXPECT_THAT(text, AllOf(HasSubstr("bsp + aggregate"), HasSubstr("ssp:3 + immediate"), HasSubstr("7-9")));
  EXPECT_THAT(text, HasSubstr("lacks worker 1"));
  EXPECT_THAT(text, HasSubstr("12 more tables"));
  EXPECT_EQ(SyncText(Parse(R"({"tables": [{"name": "fc"}]})")), "") << "no server has said anything yet";
}

}  // namespace
}  // namespace leeway::app
