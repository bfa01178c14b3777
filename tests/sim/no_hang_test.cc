// No hang: situations that must never stop a job, in a calm network, where a hang has no other excuse. The
// ledger workload has an unused table, one that only some ranks use, one that is skipped now and then, NaN
// gradients and uneven ends.
#include <gtest/gtest.h>

#include "sim/workloads/ledger.h"

namespace leeway::sim {
namespace {

constexpr const char* kModels[] = {"bsp", "ssp:2", "asp"};

LedgerReport CalmRun(std::uint64_t seed, const char* sync, std::uint32_t workers) {
  LedgerOptions options;
  options.seed = seed;
  options.sync = sync;
  options.workers = workers;
  options.faults = false;
  return RunLedger(options);
}

TEST(NoHangTest, UnusedSkippedAndSeldomUsedTablesHoldNobody) {
  for (const char* sync : kModels) {
    std::uint64_t absent = 0, refused = 0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      const LedgerReport report = CalmRun(seed, sync, 4);
      EXPECT_TRUE(report.ok()) << report.Failure();
      EXPECT_LT(report.virtual_ms, 2'000) << "no wait ran into a timeout: " << report.replay;
      absent += report.verdicts.absent;
      refused += report.verdicts.refused;
    }
    EXPECT_GT(absent, 100U) << sync;
    EXPECT_GT(refused, 10U) << "NaN gradients were pushed under " << sync;
  }
}

TEST(NoHangTest, AJobOfOneWorkerWaitsForNobody) {
  for (const char* sync : kModels) {
    const LedgerReport report = CalmRun(11, sync, 1);
    EXPECT_TRUE(report.ok()) << report.Failure();
  }
}

TEST(NoHangTest, WorkersThatEndAtDifferentIterationsLeaveTheOthersGoing) {
  // Ten workers of five to ten iterations each: some leave long before the last.
  for (const char* sync : kModels) {
    LedgerOptions options;
    options.seed = 21;
    options.sync = sync;
    options.workers = 10;
    options.iterations = 10;
    options.faults = false;
    const LedgerReport report = RunLedger(options);
    EXPECT_TRUE(report.ok()) << report.Failure();
  }
}

}  // namespace
}  // namespace leeway::sim
