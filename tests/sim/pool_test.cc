#include "sim/workloads/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace leeway::sim {
namespace {

void ExpectEachBatchOnce(const PoolReport& report, std::uint64_t seed) {
  for (const std::string& problem : report.problems) ADD_FAILURE() << "seed " << seed << ": " << problem;
  for (std::size_t batch = 0; batch < report.done.size(); ++batch) {
    ASSERT_EQ(report.done[batch], 1U) << "seed " << seed << " batch " << batch;
  }
}

TEST(PoolTest, EveryBatchIsDoneExactlyOnceUnderFaults) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    ExpectEachBatchOnce(RunPool({.seed = seed, .workers = 2 + static_cast<std::uint32_t>(seed % 4)}), seed);
  }
}

TEST(PoolTest, TheLastStepsAreAsLongAsAllOthersUnderFaults) {
  const std::pair<const char*, const char*> modes[] = {
      {"ssp:3", ""}, {"bsp", ""}, {"ssp:3", "aggregate"}, {"bsp", "immediate"}};
  for (const auto& [sync, apply] : modes) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const PoolReport report = RunPool({.seed = seed, .workers = 4, .sync = sync, .apply = apply});
      ExpectEachBatchOnce(report, seed);
      EXPECT_EQ(report.values.size(), 4U) << sync;
    }
  }
}

TEST(PoolTest, AFastWorkerDoesMoreThanASlowOne) {
  const PoolReport report = RunPool({.seed = 3, .workers = 3, .batches = 300, .faults = false});
  ExpectEachBatchOnce(report, 3);
  ASSERT_EQ(report.by_worker.size(), 3U);
  EXPECT_GT(report.by_worker[0], report.by_worker[1]);
  EXPECT_GT(report.by_worker[1], report.by_worker[2]);
  EXPECT_GT(report.by_worker[2], 0U);
}

TEST(PoolTest, APoolSmallerThanItsWorkersEndsForAll) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    ExpectEachBatchOnce(RunPool({.seed = seed, .workers = 5, .batches = 2}), seed);
  }
}

}  // namespace
}  // namespace leeway::sim
