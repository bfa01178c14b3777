#include "pushpull.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  EXPECT_EQ(small->blocks, 4096U);
  EXPECT_EQ(small->in_flight, 64U);
}

TEST(PushPullTest, RefusesWhatItCannotRun) {
  const auto error = [](const PushPullOptions& options) {
    const Result<PushPullOptions> result = Complete(options);
    EXPECT_FALSE(result.ok());
    return result.status().message();
  };
  EXPECT_THAT(error({.transport = "pigeon"}), HasSubstr("unknown transport \"pigeon\"; known: tcp"));
  EXPECT_THAT(error({.block_bytes = 6}), HasSubstr("multiple of 4"));
  EXPECT_THAT(error({.block_bytes = 0}), HasSubstr("got 0"));
  EXPECT_THAT(error({.block_bytes = 1U << 30}), HasSubstr("wanted a multiple of 4 up to"));
  EXPECT_THAT(error({.block_bytes = 1U << 20, .blocks = 5000}), HasSubstr("working set"));
  EXPECT_THAT(error({.blocks = 2, .in_flight = 3}), HasSubstr("one pair per block"));
  EXPECT_THAT(error({.seconds = 0}), HasSubstr("seconds"));
  EXPECT_THAT(error({.repeats = 0}), HasSubstr("repeats"));
}

TEST(PushPullTest, TheJsonHasEveryFieldOnOneLine) {
  PushPullReport report;
  report.options = *Complete({});
  report.ratio = 0.9;
  const std::string json = ToJson(report);
  for (const char* field :
       {"gb_s_each_way", "pairs_s", "raw_gb_s_each_way", "raw_pairs_s", "ratio", "cpu_s_per_gb",
        "raw_cpu_s_per_gb", "p50_us", "p99_us", "transport", "block_bytes", "blocks", "in_flight", "repeats",
        "spread", "busy", "idle_cpu_percent"}) {
    EXPECT_THAT(json, HasSubstr('"' + std::string(field) + "\":"));
  }
  EXPECT_THAT(json, HasSubstr("\"ratio\":0.9,"));
  EXPECT_EQ(json.find('\n'), std::string::npos);
  EXPECT_EQ(json.front(), '{');
  EXPECT_EQ(json.back(), '}');
}

}  // namespace
}  // namespace leeway::bench
