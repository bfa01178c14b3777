// Rules are set while nodes are killed, stopped and restarted, the network fails and checkpoints are written:
// a switch meets a death, a joiner, a replaced server, a restarted scheduler, a cut. The books of every life
// are right, and the job ends.
#include <gtest/gtest.h>

#include "sim/workloads/churn.h"

namespace leeway::sim {
namespace {

ChurnCounts Sweep(std::uint64_t seeds, const ChurnOptions& common) {
  ChurnCounts counts;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    ChurnOptions options = common;
    options.seed = seed;
    const ChurnReport report = RunChurn(options);
    EXPECT_TRUE(report.ok()) << report.Failure();
    counts += report.counts;
    if (::testing::Test::HasFailure() && seed > 5) break;
  }
  return counts;
}

TEST(SwitchedFaultsTest, TheBooksAreRightWhenWorkersDie) {
  const ChurnCounts counts = Sweep(100, {.switches = 5});
  EXPECT_GE(counts.rules_set, 200U);
  EXPECT_GE(counts.crashes, 50U);
  EXPECT_GE(counts.joined_late, 50U);
}

TEST(SwitchedFaultsTest, TheBooksAreRightWhenEveryRoleIsStruck) {
  const ChurnCounts counts = Sweep(120, {.all_roles = true, .switches = 5});
  EXPECT_GE(counts.rules_set, 200U);
  EXPECT_GE(counts.rules_unanswered, 1U) << "a switch met an end";
  EXPECT_GE(counts.server_restarts, 20U);
  EXPECT_GE(counts.scheduler_restarts, 20U);
  EXPECT_GE(counts.resumed, 20U);
}

TEST(SwitchedFaultsTest, CheckpointsAreWhole) {
  const ChurnCounts counts = Sweep(60, {.states = true, .switches = 5});
  EXPECT_GE(counts.rules_set, 100U);
  EXPECT_GE(counts.checkpoints, 100U);
}

// 68: all workers had died, their successors began beyond a block's iteration, and its formula (count >= 1)
// waited there for a push that nobody could send. 1768: a worker was stopped while it finished, and woke when
// the others had ended the job without it.
TEST(SwitchedFaultsTest, SeedsThatFoundSomething) {
  for (const ChurnOptions& options :
       {ChurnOptions{.seed = 68, .switches = 5}, {.seed = 1768, .all_roles = true, .switches = 4}}) {
    const ChurnReport report = RunChurn(options);
    EXPECT_TRUE(report.ok()) << report.Failure();
  }
}

TEST(SwitchedFaultsTest, TheSameSeedGivesTheSameTrace) {
  const ChurnOptions options{.seed = 3, .all_roles = true, .switches = 5};
  EXPECT_EQ(RunChurn(options).trace_hash, RunChurn(options).trace_hash);
}

}  // namespace
}  // namespace leeway::sim
