// Exactly once: the ledger workload over many seeds, and proof that the seeds met the intended faults.
#include "sim/workloads/ledger.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <set>

namespace leeway::sim {
namespace {

constexpr std::uint64_t kSeeds = 300;
constexpr std::uint64_t kOftenEnough = 100;

std::string FailuresOf(const LedgerTotals& totals) {
  std::string text;
  for (const LedgerReport& report : totals.failures) text += report.Failure() + "\n";
  return text;
}

class LedgerSuite : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    totals_ = new LedgerTotals(LedgerSweep(1, kSeeds, {}));
    std::printf("%llu runs, %llu frames, %.1f runs/s\n", static_cast<unsigned long long>(totals_->runs),
                static_cast<unsigned long long>(totals_->frames),
                static_cast<double>(totals_->runs) / totals_->wall_s);
  }
  static void TearDownTestSuite() {
    delete totals_;
    totals_ = nullptr;
  }
  static LedgerTotals* totals_;
};
LedgerTotals* LedgerSuite::totals_ = nullptr;

TEST_F(LedgerSuite, NoPushIsLostOrDoubledOnAnySeed) {
  EXPECT_EQ(totals_->runs, kSeeds);
  EXPECT_EQ(totals_->failed, 0U) << FailuresOf(*totals_);
}

TEST_F(LedgerSuite, EveryKindOfFaultOccurredOftenEnough) {
  for (std::size_t kind = 0; kind < kFaultKinds; ++kind) {
    EXPECT_GE(totals_->faults.kinds[kind], kOftenEnough) << FaultKindName(static_cast<FaultKind>(kind));
  }
  EXPECT_GE(totals_->faults.cuts_inside_frame, kOftenEnough);
  EXPECT_GE(totals_->faults.cuts_before_verdict, kOftenEnough);
}

TEST_F(LedgerSuite, EveryVerdictOccurredOftenEnough) {
  EXPECT_GE(totals_->verdicts.applied, kOftenEnough);
  EXPECT_GE(totals_->verdicts.summed, kOftenEnough);
  EXPECT_GE(totals_->verdicts.absent, kOftenEnough);
  EXPECT_GE(totals_->verdicts.refused, kOftenEnough);
  EXPECT_GE(totals_->servers.repeated, kOftenEnough) << "verdicts given again to a push that came again";
  EXPECT_GE(totals_->servers.windows, kOftenEnough);
  EXPECT_GE(totals_->servers.gaps, kOftenEnough);
  EXPECT_GE(totals_->servers.delayed, kOftenEnough);
}

TEST(LedgerTest, TheSameSeedGivesTheSameTraceWhateverRunsBesideIt) {
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const LedgerReport first = RunLedger({.seed = seed});
    const LedgerReport again = RunLedger({.seed = seed});
    EXPECT_EQ(first.trace_hash, again.trace_hash) << first.replay;
    EXPECT_EQ(first.frames, again.frames);
    EXPECT_EQ(first.virtual_ms, again.virtual_ms);
    hashes.insert(first.trace_hash);
  }
  EXPECT_EQ(hashes.size(), 20U) << "another seed is another run";
  EXPECT_EQ(LedgerSweep(1, 20, {}, {}, 1).trace_hash, LedgerSweep(1, 20, {}, {}, 2).trace_hash);
}

TEST(LedgerTest, AReportNamesItsRunAndTheRunIsTheSameWhenItsDrawsAreGiven) {
  const LedgerReport drawn = RunLedger({.seed = 7});
  EXPECT_EQ(drawn.replay, "build/tests/sim/leeway_workload ledger --seed 7");
  const LedgerReport given = RunLedger(drawn.options);
  EXPECT_EQ(given.trace_hash, drawn.trace_hash);
  EXPECT_NE(given.replay.find("--sync " + drawn.options.sync), std::string::npos) << given.replay;
}

TEST(LedgerTest, EverySyncModelAndShardCountKeepsTheBooks) {
  for (const char* sync : {"bsp", "asp", "ssp:1", "ssp:3", "ssp:2,release=soft"}) {
    for (const std::uint32_t shards : {1U, 2U, 3U}) {
      LedgerOptions options;
      options.sync = sync;
      options.shards = shards;
      options.servers = 1;
      const LedgerTotals totals = LedgerSweep(500, 4, options);
      EXPECT_EQ(totals.failed, 0U) << FailuresOf(totals);
    }
  }
}

TEST(LedgerTest, UnderRelayEveryReadIsTheMeanOfItsIteration) {
  for (const char* apply : {"relay", "relay:reduce=ordered"}) {
    LedgerOptions options;
    options.sync = "bsp";
    options.apply = apply;
    const LedgerTotals totals = LedgerSweep(700, 100, options);
    EXPECT_EQ(totals.failed, 0U) << FailuresOf(totals);
    EXPECT_GE(totals.verdicts.summed, kOftenEnough);
    EXPECT_GE(totals.faults.cuts_inside_frame, 10U);
  }
}

TEST(LedgerTest, APolicyThatCannotBeIsAProblemWithAReplayLine) {
  const LedgerReport report = RunLedger({.seed = 1, .sync = "asp", .apply = "aggregate"});
  ASSERT_FALSE(report.ok());
  EXPECT_NE(
      report.Failure().find("build/tests/sim/leeway_workload ledger --seed 1 --sync asp --apply aggregate"),
      std::string::npos)
      << report.Failure();
}

TEST(LedgerTest, ASweepStopsWhenItsWatcherSaysSo) {
  std::uint64_t seen = 0;
  const LedgerTotals totals = LedgerSweep(
      1, 50, {}, [&](const LedgerReport&) { return ++seen < 3; }, 1);
  EXPECT_EQ(seen, 3U);
  EXPECT_EQ(totals.runs, 3U);
}

}  // namespace
}  // namespace leeway::sim
