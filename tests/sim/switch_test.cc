// Models in whole jobs under faults: every model keeps the books, and so does switching between them.
#include <gtest/gtest.h>

#include <string>

#include "sim/workloads/churn.h"
#include "sim/workloads/ledger.h"

namespace leeway::sim {
namespace {

// Models that the other suites do not draw.
constexpr const char* kModels[] = {"dsps:0,4,2",
                                   "dssp:1,4",
                                   "drop:1",
                                   "drop:2,late=apply",
                                   "pssp:1,0.5",
                                   "pssp:1,alpha=0.8",
                                   "psp:1,2",
                                   "psp:2,3,late=apply",
                                   "psp:1,1,ahead=sum,late=apply",
                                   "bounded:1",
                                   "ssptable:2",
                                   "when:pull=\"gap < 2 || rand > 0.5\",push=\"count >= workers\""};

std::string FailuresOf(const LedgerTotals& totals) {
  std::string text;
  for (const LedgerReport& report : totals.failures) text += report.Failure() + "\n";
  return text;
}

TEST(SwitchSimTest, AnotherModelAtAnyPointNeitherHangsNorLosesAPush) {
  LedgerOptions options;
  options.switches = 6;
  const LedgerTotals totals = LedgerSweep(1, 300, options);
  EXPECT_EQ(totals.failed, 0U) << FailuresOf(totals);
  EXPECT_GE(totals.servers.switches, 5'000U) << "of blocks";
  EXPECT_GE(totals.servers.delayed, 500U);
  EXPECT_GE(totals.servers.late_applied, 50U);
  EXPECT_GE(totals.verdicts.late_dropped + totals.verdicts.absent, 500U);
  EXPECT_GE(totals.verdicts.summed, 1'000U);
  EXPECT_GE(totals.verdicts.applied, 1'000U);
}

// A worker that sets many rules before the first answer hears the outcome of each.
TEST(SwitchSimTest, SeedsThatFoundSomething) {
  for (const std::uint64_t seed : {870U}) {
    LedgerOptions options;
    options.seed = seed;
    options.switches = 6;
    const LedgerReport report = RunLedger(options);
    EXPECT_TRUE(report.ok()) << report.Failure();
  }
}

TEST(SwitchSimTest, EveryModelKeepsTheBooksUnderFaults) {
  for (const char* sync : kModels) {
    LedgerOptions options;
    options.sync = sync;
    const LedgerTotals totals = LedgerSweep(1, 25, options);
    EXPECT_EQ(totals.failed, 0U) << sync << "\n" << FailuresOf(totals);
  }
}

TEST(SwitchSimTest, EveryModelKeepsTheBooksWhenEveryRoleIsStruck) {
  for (const char* sync : kModels) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      const ChurnReport report = RunChurn({seed, sync, true, true, false});
      EXPECT_TRUE(report.ok()) << report.Failure();
    }
  }
}

}  // namespace
}  // namespace leeway::sim
