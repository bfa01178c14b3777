#include "optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "optimizer/optimizers.h"

namespace leeway::bench {
namespace {

using ::testing::HasSubstr;

TEST(OptimizerBenchTest, EveryRowOfTheRegistryIsMeasuredAndAgreesWithItsPlainLoop) {
  const auto report = RunOptimizers({.bytes = 4 * 1003, .repeats = 1});
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_GE(report->rows.size(), BuiltinOptimizers().names().size());
  for (const OptimizerRow& row : report->rows) {
    EXPECT_GT(row.ns, 0.0) << row.spec;
    EXPECT_GT(row.ratio, 0.0) << row.spec;
    EXPECT_GE(row.ratio, report->ratio_min) << row.spec;
    EXPECT_THAT(ToJson(*report), HasSubstr("\"" + row.spec + "\""));
    EXPECT_THAT(ToText(*report), HasSubstr(row.spec));
  }
}

TEST(OptimizerBenchTest, ARatioBelowTheFloorIsNamed) {
  OptimizerReport report;
  report.rows = {{.spec = "adam", .ratio = 0.9}, {.spec = "sgd", .ratio = 0.75}};
  EXPECT_EQ(TooLittle(report), "sgd: 0.75 of the speed of a plain loop, wanted at least 0.8\n");
}

TEST(OptimizerBenchTest, AProcessorThatLacksWhatThePlainLoopsWereBuiltForIsTold) {
  EXPECT_TRUE(CheckProcessor({}).ok());
#if defined(__x86_64__)
  const std::vector<const char*> needs = {"avx4096", "teleport"};
  EXPECT_THAT(CheckProcessor(needs).ToString(), HasSubstr("with avx4096, teleport, which this one lacks"));
#endif
}

TEST(OptimizerBenchTest, WhatCannotBeMeasuredIsRefused) {
  EXPECT_THAT(RunOptimizers({.bytes = 6}).status().ToString(), HasSubstr("bytes: got 6"));
  EXPECT_THAT(RunOptimizers({.repeats = 0}).status().ToString(), HasSubstr("repeats: got 0"));
}

}  // namespace
}  // namespace leeway::bench
