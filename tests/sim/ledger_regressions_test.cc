// Seeds that once found a bug. The events of a run may drift as the code changes; the seeds stay.
#include <gtest/gtest.h>

#include "sim/workloads/ledger.h"

namespace leeway::sim {
namespace {

void ExpectClean(std::uint64_t seed) {
  const LedgerReport report = RunLedger({.seed = seed});
  EXPECT_TRUE(report.ok()) << report.Failure();
}

TEST(LedgerRegressionTest, AShardThatReconnectsWhenTheJobEndsIsToldAndNotRefused) {
  for (const std::uint64_t seed : {10, 28, 1165, 3857}) ExpectClean(seed);
}

TEST(LedgerRegressionTest, AQueuedPullOfAnOwnClockTableGoesToAllItsShards) {
  for (const std::uint64_t seed : {216, 326}) ExpectClean(seed);
}

}  // namespace
}  // namespace leeway::sim
