#include "calibrate/job_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace leeway::app {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

JobRecord Small() {
  JobRecord record;
  record.job.workers = 2;
  record.job.servers = 1;
  record.job.sync = "ssp:3";
  record.job.rules = {"tables=fc* sync=asp"};
  record.job.pull = "partial:0.5,1";
  record.job.block_bytes = 1 << 16;
  record.job.flush_bytes = 1 << 14;
  record.job.priorities = false;
  record.job.pull_at = "clock";
  record.tables = {{"conv", 144, 0.9}, {"fc", 200'704, 0.7}};
  record.workers = {
      {.iterations = 100,
       .cpu_s = 0.02,
       .elsewhere_s = 0.001,
       .slowed = 1,
       .cpu_s_quantiles = {0.01, 0.02, 0.03}},
      {.iterations = 99, .cpu_s = 0.03, .elsewhere_s = 0, .slowed = 4, .cpu_s_quantiles = {0.03}}};
  record.host = {.cores = 2, .others_cores = 0.25};
  record.costs = {.latency_s = 1e-5, .bytes_per_second = 5e9, .per_message_s = 2e-6, .per_byte_s = 1e-10};
  record.iterations = 199;
  record.pooled = true;
  record.seconds = 12.5;
  return record;
}

// The record with `change` made to its JSON is refused, with a message that has `wanted` in it.
void ExpectRefused(const std::function<void(Json&)>& change, const std::string& wanted) {
  Json json = Json::parse(ToJson(Small()));
  change(json);
  const Result<JobRecord> read = ParseJobRecord(json.dump(), "run.json");
  ASSERT_FALSE(read.ok()) << wanted;
  EXPECT_THAT(read.status().message(), HasSubstr("run.json"));
  EXPECT_THAT(read.status().message(), HasSubstr(wanted));
}

TEST(JobRecordTest, WhatIsWrittenIsRead) {
  const Result<JobRecord> read = ParseJobRecord(ToJson(Small()), "run.json");
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(ToJson(*read), ToJson(Small()));
  EXPECT_EQ(read->job.rules, Small().job.rules);
  EXPECT_EQ(read->job.flush_bytes, 1U << 14);
  EXPECT_FALSE(read->job.priorities);
  EXPECT_EQ(read->job.pull_at, "clock");
  EXPECT_EQ(read->workers[0].cpu_s_quantiles, Small().workers[0].cpu_s_quantiles);
  EXPECT_EQ(read->seconds, 12.5);
}

TEST(JobRecordTest, HoldsNoWaits) { EXPECT_EQ(ToJson(Small()).find("wait"), std::string::npos); }

TEST(JobRecordTest, DamagedOnesAreRefusedByName) {
  ExpectRefused([](Json& j) { j["leeway_record"] = 1; },
                "leeway_record: got 1, wanted a whole number from 2 to 2");
  ExpectRefused([](Json& j) { j.erase("leeway_record"); }, "leeway_record: is missing");
  ExpectRefused([](Json& j) { j["job"].erase("sync"); }, "job.sync: is missing");
  ExpectRefused([](Json& j) { j["job"].erase("priorities"); }, "job.priorities: is missing");
  ExpectRefused([](Json& j) { j["job"]["pull_at"] = "noon"; },
                "job.pull_at: got \"noon\", wanted \"ready\" or \"clock\"");
  ExpectRefused([](Json& j) { j["job"]["workers"] = 0; }, "job.workers: got 0, wanted");
  ExpectRefused([](Json& j) { j["job"]["workers"] = 3; }, "workers: got 2 of them, wanted 3");
  ExpectRefused([](Json& j) { j["measured"]["seconds"] = -1; }, "measured.seconds: got -1, wanted a number");
  ExpectRefused([](Json& j) { j["host"]["others_cores"] = 3; }, "host.others_cores: got 3, wanted");
  ExpectRefused([](Json& j) { j["costs"]["latency_s"] = "fast"; }, "costs.latency_s: got \"fast\", wanted");
  ExpectRefused([](Json& j) { j["tables"] = Json::array(); }, "tables: got 0 tables, wanted 1");
  ExpectRefused([](Json& j) { j["tables"][1]["elements"] = 0; }, "tables[1].elements: got 0");
  ExpectRefused(
      [](Json& j) { j["tables"][1]["elements"] = std::uint64_t{1} << 40; },
      "tables[1].elements: got 1099511627776, which makes 1099511627920 of all tables so far, wanted "
      "at most 1099511627776");
  ExpectRefused(
      [](Json& j) {
        j["workers"][1]["cpu_s_quantiles"] = {0.2, 0.1};
      },
      "workers[1].cpu_s_quantiles: got 0.1 after 0.2, wanted seconds that do not fall");
  ExpectRefused([](Json& j) { j["workers"][0]["wait_s"] = 1; }, "workers[0].\"wait_s\": is not known");
}

TEST(JobRecordTest, WhatIsNoJsonIsRefused) {
  for (const std::string text : {"", "[]", "{\"leeway_record\": 1", "3"}) {
    const Result<JobRecord> read = ParseJobRecord(text, "run.json");
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_THAT(read.status().message(), HasSubstr("run.json"));
  }
  const std::string whole = ToJson(Small());
  for (std::size_t bytes = 0; bytes < whole.size() - 2; bytes += 7)
    EXPECT_FALSE(ParseJobRecord(whole.substr(0, bytes), "run.json").ok()) << bytes;
}

}  // namespace
}  // namespace leeway::app
