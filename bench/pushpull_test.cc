#include "pushpull.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "latency.h"
#include "leeway_client.h"
#include "scale.h"

namespace leeway::bench {
namespace {

using ::testing::HasSubstr;

TEST(PushPullTest, DefaultsGiveAWorkingSetOf64MiB) {
  for (const std::uint32_t bytes : {64U << 10, 1U << 20, 4U << 20}) {
    const Result<PushPullOptions> options = Complete({.block_bytes = bytes});
    ASSERT_TRUE(options.ok()) << options.status().ToString();
    EXPECT_EQ(static_cast<std::uint64_t>(options->blocks) * bytes, 64U << 20);
    EXPECT_GE(options->in_flight, 4U);
  }
  const Result<PushPullOptions> small = Complete({.block_bytes = 64});
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(small->blocks, 1024U);
  EXPECT_EQ(small->in_flight, 64U);
}

TEST(PushPullTest, RefusesWhatItCannotRun) {
  const auto error = [](const PushPullOptions& options) {
    const Result<PushPullOptions> result = Complete(options);
    EXPECT_FALSE(result.ok());
    return result.status().message();
  };
  EXPECT_THAT(error({.transport = "pigeon"}),
              HasSubstr("unknown transport \"pigeon\"; known: auto, local, uds, tcp"));
  EXPECT_THAT(error({.block_bytes = 6}), HasSubstr("multiple of 4"));
  EXPECT_THAT(error({.block_bytes = 0}), HasSubstr("got 0"));
  EXPECT_THAT(error({.block_bytes = 1U << 30}), HasSubstr("wanted a multiple of 4 up to"));
  EXPECT_THAT(error({.block_bytes = 1U << 20, .blocks = 5000}), HasSubstr("working set"));
  EXPECT_THAT(error({.blocks = 2, .in_flight = 3}), HasSubstr("one pair per block"));
  EXPECT_THAT(error({.transport = "locl"}), HasSubstr("(did you mean \"local\"?)"));
  EXPECT_THAT(error({.workers = 0}), HasSubstr("workers: got 0"));
  EXPECT_THAT(error({.servers = 65}), HasSubstr("servers: got 65"));
  EXPECT_THAT(error({.seconds = 0}), HasSubstr("seconds"));
  EXPECT_THAT(error({.repeats = 0}), HasSubstr("repeats"));
}

TEST(PushPullTest, TheJsonHasEveryFieldOnOneLine) {
  PushPullReport report;
  report.options = *Complete({});
  report.ratio.median = 0.9;
  report.leeway.cpu_s_per_gb = 0.5;
  const std::string json = ToJson(report);
  for (const char* field : {"gb_s_each_way",
                            "pairs_s",
                            "raw_gb_s_each_way",
                            "raw_pairs_s",
                            "ratio",
                            "cpu_s_per_gb",
                            "raw_cpu_s_per_gb",
                            "p50_us",
                            "p99_us",
                            "transport",
                            "block_bytes",
                            "blocks",
                            "in_flight",
                            "repeats",
                            "spread",
                            "busy",
                            "busy_before",
                            "busy_during",
                            "idle_cpu_percent",
                            "workers",
                            "servers",
                            "limit_gb_s",
                            "limit_ratio",
                            "limit_spread",
                            "cpu_ratio",
                            "raw_socket",
                            "raw_cpu_s_per_gb_moved"}) {
    EXPECT_THAT(json, HasSubstr('"' + std::string(field) + "\":"));
  }
  EXPECT_THAT(json, HasSubstr("\"ratio\":0.9,"));
  EXPECT_THAT(json, HasSubstr("\"cpu_s_per_gb_moved\":0.25,")) << "as much goes the other way";
  EXPECT_EQ(json.find('\n'), std::string::npos);
  EXPECT_EQ(json.front(), '{');
  EXPECT_EQ(json.back(), '}');
}

TEST(PushPullTest, ASummaryIsOfTheTurns) {
  Side side;
  for (const double count : {100.0, 300.0, 200.0}) {
    Turn turn;
    turn.count = count;
    turn.seconds = 2;
    turn.cpu_s = 3;
    turn.server_cpu_s = 1;
    turn.latency.Note(50'000);
    side.turns.push_back(turn);
  }
  const PushPullFigures figures = Summarize(side, 1'000'000);
  EXPECT_DOUBLE_EQ(figures.pairs_s, 100);
  EXPECT_DOUBLE_EQ(figures.gb_s_each_way, 0.1);
  EXPECT_DOUBLE_EQ(figures.spread, 1);
  EXPECT_DOUBLE_EQ(figures.cpu_s_per_gb, 15);
  EXPECT_DOUBLE_EQ(figures.cpu_s_per_gb_moved(), 7.5);
  EXPECT_DOUBLE_EQ(figures.server_cpu_s_per_gb, 5);
  EXPECT_NEAR(figures.p99_us, 50, 1);
}

TEST(LeewayClientTest, WhatAWorkerPushedToABlockIsCountedFromItsFirst) {
  constexpr std::uint64_t kBlocks = 10;
  EXPECT_EQ(FirstBlock(kBlocks, 0, 4), 0U);
  EXPECT_EQ(FirstBlock(kBlocks, 3, 4), 7U);
  for (std::uint64_t first = 0; first < kBlocks; ++first) {
    std::vector<std::uint64_t> pushed(kBlocks);
    for (std::uint64_t pairs = 0; pairs < 35; ++pairs) {
      for (std::uint64_t block = 0; block < kBlocks; ++block)
        ASSERT_EQ(PushesTo(block, kBlocks, first, pairs), pushed[block])
            << first << ' ' << pairs << ' ' << block;
      ++pushed[(first + pairs) % kBlocks];
    }
  }
}

TEST(LatencyBenchTest, ComparesTurnByTurnWithTheSameKindOfSocket) {
  Side leeway, raw;
  for (const std::uint64_t us : {30, 20, 40}) {
    leeway.turns.emplace_back().latency.Note(us * 2000);
    raw.turns.emplace_back().latency.Note(us * 1000);
  }
  const LatencyRow row = CompareLatency(leeway, raw);
  EXPECT_NEAR(row.p50_us.median, 60, 1);
  EXPECT_NEAR(row.raw_p99_us.median, 30, 0.5);
  EXPECT_NEAR(row.p50_ratio.median, 2, 0.03);
  EXPECT_EQ(RawKindFor("tcp"), RawKind::kTcp);
  EXPECT_EQ(RawKindFor("local"), RawKind::kUnix);
  LatencyReport report;
  for (const char* field : {"one_core", "two_cores", "raw_socket", "p99_ratio", "p50_spread", "busy"})
    EXPECT_THAT(ToJson(report), HasSubstr('"' + std::string(field) + "\":"));
  EXPECT_THAT(RunLatency({.transport = "pigeon"}).status().message(), HasSubstr("unknown transport"));
  EXPECT_THAT(RunLatency({.repeats = 0}).status().message(), HasSubstr("repeats: got 0"));
}

TEST(ScaleBenchTest, TheJsonHasARowForEverySize) {
  ScaleReport report;
  for (const ScaleSize& size : kScaleSizes) report.rows.push_back({.size = size, .figures = {}, .ratio = {}});
  EXPECT_THAT(ToJson(report), HasSubstr(R"("workers":8,"servers":2,"gb_s_each_way":0)"));
  EXPECT_THAT(ToText(report), HasSubstr("leeway bench sync"));
  EXPECT_THAT(RunScale({.block_bytes = 6}).status().message(), HasSubstr("multiple of 4"));
}

TEST(CorePlanTest, OneWorkerAndOneServerHaveACoreEach) {
  EXPECT_EQ(ClientCore(CorePlan::kTwo, 0), 0);
  EXPECT_EQ(ServerCore(CorePlan::kTwo, 0), 1);
  EXPECT_EQ(ServerCore(CorePlan::kTwo, 1), 0) << "the second shares the first worker's";
  EXPECT_EQ(ServerCore(CorePlan::kOne, 1) + ClientCore(CorePlan::kOne, 1), 0);
}

}  // namespace
}  // namespace leeway::bench
