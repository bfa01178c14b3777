#include "sync.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/policy_config.h"
#include "sync/sync_policy.h"
#include "sync_bed.h"

namespace leeway::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SyncBenchTest, EveryRowOfTheRegistryIsMeasured) {
  for (const std::uint32_t workers : kSyncWorkers) {
    const SyncSpecs specs = SyncBenchSpecs(BuiltinSyncModels(), workers);
    EXPECT_EQ(specs.measured.size() + specs.left_out.size(), BuiltinSyncModels().names().size());
    for (const auto& [model, spec] : specs.measured) {
      const auto bed = SyncBed::Make(spec, workers);
      EXPECT_TRUE(bed.ok()) << spec << ": " << bed.status().ToString();
    }
  }
}

// A model of a user's own: bench/sync.cc has never heard of it.
Result<SyncModelPtr> MakeAsAsp(const PolicyConfig&) { return BuiltinSyncModels().MakeFromSpec("asp"); }
Result<SyncModelPtr> MakeWithArgument(const PolicyConfig& config) {
  LW_ASSIGN_OR_RETURN(const std::int64_t s, config.IntInRange("s", 0, 9));
  return BuiltinSyncModels().MakeFromSpec(fmt::format("ssp:{}", s));
}

TEST(SyncBenchTest, AModelItDoesNotKnowIsMeasuredIfItNeedsNoArguments) {
  Registry<SyncModel> models("sync model");
  models.Add("mine", MakeAsAsp);
  models.Add("needy", MakeWithArgument);
  models.Add("ssp", MakeWithArgument);
  const SyncSpecs specs = SyncBenchSpecs(models, 4);
  ASSERT_EQ(specs.measured.size(), 2U);
  EXPECT_EQ(specs.measured[0].spec, "mine");
  EXPECT_EQ(specs.measured[1].spec, "ssp:3");
  EXPECT_THAT(specs.left_out, ElementsAre(HasSubstr("needy: ")));
  SyncReport report;
  report.left_out = specs.left_out;
  EXPECT_THAT(ToText(report), HasSubstr("left out: needy: "));
  EXPECT_THAT(ToJson(report), HasSubstr(R"("left_out":["needy: )"));
}

TEST(SyncBenchTest, ATurnAnswersEveryPullAndTakesTime) {
  for (const auto& [model, spec] : SyncBenchSpecs(BuiltinSyncModels(), 4).measured) {
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
  for (const auto& [model, spec] : SyncBenchSpecs(BuiltinSyncModels(), 4).measured) {
    const auto bed = SyncBed::Make(spec, 4);
    ASSERT_TRUE(bed.ok()) << bed.status().ToString();
    ASSERT_TRUE((*bed)->Turn(2048).ok());
    const BlockCounters counters = (*bed)->counters();
    // Of a model that somebody adds nothing is known.
    const bool lets_everybody = model == "asp" || model == "bounded";
    const bool delays = model == "bsp" || model == "ssp" || model == "pssp" || model == "when";
    if (lets_everybody || delays) {
      EXPECT_EQ(counters.delayed > 0, delays) << spec;
    }
    if (model == "pssp") {
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
