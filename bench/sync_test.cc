#include "sync.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sync/sync_policy.h"
#include "sync_bed.h"

namespace leeway::bench {
namespace {

using ::testing::HasSubstr;

TEST(SyncBenchTest, EveryRowOfTheRegistryIsMeasured) {
  for (const std::uint32_t workers : kSyncWorkers) {
    const auto specs = SyncBenchSpecs(workers);
    ASSERT_TRUE(specs.ok()) << specs.status().ToString();
    EXPECT_EQ(specs->size(), BuiltinSyncModels().names().size());
    for (const std::string& spec : *specs) {
      const auto bed = SyncBed::Make(spec, workers);
      EXPECT_TRUE(bed.ok()) << spec << ": " << bed.status().ToString();
    }
  }
}

TEST(SyncBenchTest, ATurnAnswersEveryPullAndTakesTime) {
  const auto specs = SyncBenchSpecs(4);
  ASSERT_TRUE(specs.ok());
  for (const std::string& spec : *specs) {
    const auto bed = SyncBed::Make(spec, 4);
    ASSERT_TRUE(bed.ok()) << bed.status().ToString();
    for (int turn = 0; turn < 2; ++turn) {
      const auto costs = (*bed)->Turn(2048);
      ASSERT_TRUE(costs.ok()) << spec << ": " << costs.status().ToString();
      for (const double ns : *costs) EXPECT_GT(ns, 0.0) << spec;
    }
  }
}

TEST(SyncBenchTest, ModelsThatDelayDoSoAndTossTheirCoins) {
  const auto specs = SyncBenchSpecs(4);
  ASSERT_TRUE(specs.ok());
  for (const std::string& spec : *specs) {
    const auto bed = SyncBed::Make(spec, 4);
    ASSERT_TRUE(bed.ok()) << bed.status().ToString();
    ASSERT_TRUE((*bed)->Turn(2048).ok());
    const BlockCounters counters = (*bed)->counters();
    const bool lets_everybody = spec == "asp" || spec.starts_with("bounded");
    EXPECT_EQ(counters.delayed > 0, !lets_everybody) << spec;
    if (spec.starts_with("pssp")) {
      // Half of the pulls that are s ahead, which are an eighth of all.
      EXPECT_GT(counters.delayed, counters.pulls / 24);
      EXPECT_LT(counters.delayed, counters.pulls / 11);
    }
  }
}

TEST(SyncBenchTest, SpreadOutEveryWorkerIsInAnIterationOfItsOwn) {
  const auto bed = SyncBed::Make("asp", 64, SyncBed::Places::kSpread);
  ASSERT_TRUE(bed.ok()) << bed.status().ToString();
  ASSERT_TRUE((*bed)->Turn(2048).ok());
  EXPECT_GT((*bed)->counters().advances, 0U);
  EXPECT_EQ((*bed)->counters().refused + (*bed)->counters().gaps, 0U);
  // 64 workers one behind the other read 0 to 63 iterations apart.
  EXPECT_GT((*bed)->counters().lead_read.buckets.back(), (*bed)->counters().pulls / 2);
  EXPECT_THAT(SyncBed::Make("bsp", 64, SyncBed::Places::kSpread).status().message(), HasSubstr("bsp"));
}

TEST(SyncBenchTest, SaysWhatIsTooMuch) {
  SyncReport report;
  report.rows.push_back({.model = "ssp", .spec = "ssp:3", .push = {}, .absent = {}, .pull = {}});
  report.rows[0].pull.ratio = kSyncRatioMax;
  report.formula = {
      .spec = "when", .against = "ssp:3", .push_extra_ns = kFormulaExtraNsMax, .pull_extra_ns = 1};
  EXPECT_EQ(TooMuch(report), "");
  report.rows[0].pull.ratio = 1.31;
  EXPECT_THAT(TooMuch(report), HasSubstr("ssp: a pull with 1024 workers costs 1.31 times"));
  report.rows[0].pull.ratio = 1;
  report.formula->pull_extra_ns = 1001;
  EXPECT_THAT(TooMuch(report), HasSubstr("a formula costs 1001 ns more"));
}

TEST(SyncBenchTest, RefusesWhatItCannotRun) {
  EXPECT_THAT(RunSync({.repeats = 0}).status().message(), HasSubstr("repeats: got 0"));
  EXPECT_THAT(RunSync({.pairs = 1}).status().message(), HasSubstr("pairs: got 1"));
}

TEST(SyncBenchTest, TheJsonHasEveryFieldOnOneLine) {
  SyncReport report;
  report.rows.push_back({.model = "when", .spec = R"(when:pull="a")", .push = {}, .absent = {}, .pull = {}});
  std::string json = ToJson(report);
  for (const char* field : {"bench", "workers", "repeats", "models", "spec", "push", "absent", "pull", "ns",
                            "ratio", "spread", "ratio_max", "formula", "busy", "cores"}) {
    EXPECT_THAT(json, HasSubstr('"' + std::string(field) + "\":"));
  }
  EXPECT_THAT(json, HasSubstr(R"("when:pull=\"a\"")"));
  EXPECT_THAT(json, HasSubstr("\"formula\":null"));
  EXPECT_EQ(json.find('\n'), std::string::npos);
  report.formula = {.spec = "when", .against = "ssp:3", .push_extra_ns = 12, .pull_extra_ns = 34};
  EXPECT_THAT(ToJson(report), HasSubstr(R"("pull_extra_ns":34)"));
}

}  // namespace
}  // namespace leeway::bench
