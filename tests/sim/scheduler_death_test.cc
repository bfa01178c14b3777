// The scheduler dies and restarts on its log: the job ends as if it had not.
#include "sim/workloads/scheduler_death.h"

#include <gtest/gtest.h>

namespace leeway::sim {
namespace {

TEST(SchedulerDeathTest, TheJobEndsAsIfItHadNot) {
  SchedulerDeathCounts counts;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const SchedulerDeathReport report = RunSchedulerDeath({.seed = seed});
    EXPECT_TRUE(report.ok()) << report.Failure();
    counts += report.counts;
    if (HasFailure() && seed > 20) break;
  }
  // A suite in which nothing happened would pass as well.
  EXPECT_GE(counts.process_crashes, 300U);
  EXPECT_GE(counts.power_losses, 100U);
  EXPECT_GE(counts.restarts, 400U);
  EXPECT_GE(counts.while_gathering, 50U);
  EXPECT_GE(counts.while_ending, 20U);
  EXPECT_GE(counts.torn_logs, 10U);
  EXPECT_GE(counts.pushes_meanwhile, 1000U);
  EXPECT_GE(counts.worker_kills, 100U);
  EXPECT_GE(counts.joined_late, 50U);
  EXPECT_GE(counts.full_answers, 50U);
  EXPECT_GE(counts.checkpoints, 50U);
  EXPECT_GE(counts.consistent, 50U);
}

TEST(SchedulerDeathTest, UnderEachModelThatIsPromised) {
  for (const char* sync : {"bsp", "asp", "ssp:2"}) {
    for (std::uint64_t seed = 1001; seed <= 1030; ++seed) {
      const SchedulerDeathReport report = RunSchedulerDeath({.seed = seed, .sync = sync});
      EXPECT_TRUE(report.ok()) << report.Failure();
    }
  }
}

TEST(SchedulerDeathTest, TheSameSeedGivesTheSameTrace) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_EQ(RunSchedulerDeath({.seed = seed}).trace_hash, RunSchedulerDeath({.seed = seed}).trace_hash);
  }
}

}  // namespace
}  // namespace leeway::sim
