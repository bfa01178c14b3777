// Workers that are killed, stopped and started again while the network fails: the books of every life are
// right, and the job ends.
#include "sim/workloads/churn.h"

#include <gtest/gtest.h>

namespace leeway::sim {
namespace {

TEST(ChurnTest, TheBooksOfEveryLifeAreRight) {
  ChurnCounts counts;
  for (std::uint64_t seed = 1; seed <= 700; ++seed) {
    const ChurnReport report = RunChurn({.seed = seed});
    EXPECT_TRUE(report.ok()) << report.Failure();
    counts += report.counts;
    if (HasFailure() && seed > 20) break;
  }
  // A suite in which nothing happened would pass as well.
  EXPECT_GE(counts.crashes, 100U);
  EXPECT_GE(counts.pauses, 100U);
  EXPECT_GE(counts.restarts, 100U);
  EXPECT_GE(counts.fenced, 100U);
  EXPECT_GE(counts.joined_late, 100U);
  EXPECT_GE(counts.left, 100U);
  EXPECT_GE(counts.uncertain, 100U);
  EXPECT_GE(counts.uncertain_taken, 100U);
}

// (Seed 53: a checkpoint was given up during its publication, and its manifest landed in the removed folder.)
TEST(ChurnTest, CheckpointsOfAJobThatLosesWorkersAreWhole) {
  ChurnCounts counts;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const ChurnReport report = RunChurn({.seed = seed, .states = true});
    EXPECT_TRUE(report.ok()) << report.Failure();
    counts += report.counts;
    if (HasFailure() && seed > 5) break;
  }
  EXPECT_GE(counts.crashes, 100U);
  EXPECT_GE(counts.checkpoints, 400U);
  EXPECT_GE(counts.states, 600U);
  EXPECT_GE(counts.states_lacking, 100U);
}

// 48: a shard that came back acknowledged the epoch of an entry with the table map that precedes the roster,
// so a late worker was told to begin in iterations that were over. 334, 3840, 4232: a barrier waited for a
// late worker that had begun beyond it.
TEST(ChurnTest, SeedsThatFoundABug) {
  for (const std::uint64_t seed : {48U, 334U, 3840U, 4232U}) {
    const ChurnReport report = RunChurn({.seed = seed});
    EXPECT_TRUE(report.ok()) << report.Failure();
  }
}

TEST(ChurnTest, TheSameSeedGivesTheSameTrace) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_EQ(RunChurn({.seed = seed}).trace_hash, RunChurn({.seed = seed}).trace_hash);
  }
}

}  // namespace
}  // namespace leeway::sim
