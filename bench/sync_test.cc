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
