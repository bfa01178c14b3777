// Jobs that resume from checkpoints count nothing twice, and report every loss.
#include "sim/workloads/resume.h"

#include <gtest/gtest.h>

namespace leeway::sim {
namespace {

TEST(ResumeTest, NothingCountsTwiceAndWhatIsMissingWasReported) {
  ResumeCounts counts;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const ResumeReport report = RunResume({.seed = seed, .sync = ""});
    ASSERT_TRUE(report.ok()) << report.Failure();
    counts += report.counts;
  }
  EXPECT_GE(counts.counted, 100'000U) << "cells that were looked at";
  EXPECT_GE(counts.resumed, 300U);
  EXPECT_GE(counts.fuzzy, 100U);
  EXPECT_GE(counts.uneven, 100U) << "ranks that begin in different iterations";
  EXPECT_GE(counts.both_killed, 100U) << "a worker and a server at once";
  EXPECT_GE(counts.pools, 100U);
  EXPECT_GE(counts.reopened, 100U);
  EXPECT_GE(counts.reported, 100U);
}

// Seeds that found a bug. 33 and 59: a rank that had nothing left to do began again below its own pushes. 14:
// the scheduler did not know the iterations that a dead worker had named in a lease. 758 and 974: a server
// died after a worker, and lost pushes of that worker. 1262: a cut was chosen below batches that were known
// to be done. 40: a cut during which a worker died. 370: the next life had its seat, and some blocks had
// forgotten it, when the cut was complete. 657: a server that restarted after the end of the job never heard
// of the end. 2071: a block's checkpoint was written while a worker joined; another process took the block
// over before the worker had its place, and ended its life. 66: the job ended before another server had
// acknowledged what a replaced one said of lives that had left, and their lost pushes were in no report.
TEST(ResumeTest, SeedsThatFoundABug) {
  for (const std::uint64_t seed : {14, 33, 40, 55, 59, 66, 297, 370, 657, 758, 974, 1262, 1396, 1684, 2071}) {
    const ResumeReport report = RunResume({.seed = seed, .sync = ""});
    EXPECT_TRUE(report.ok()) << report.Failure();
  }
}

}  // namespace
}  // namespace leeway::sim
