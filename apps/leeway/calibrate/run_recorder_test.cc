#include "calibrate/run_recorder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "bench/cpu.h"

namespace leeway::app {
namespace {

constexpr double kBurnedSeconds = 0.02;
constexpr double kPerByteOfAny = 1e-10;

// A job of one worker and two shards, whose one server is this process.
class RunRecorderTest : public ::testing::Test {
 protected:
  RunRecorderTest() {
    options_.scheduler.job.workers = 1;
    options_.exchange_costs.per_byte_s = kPerByteOfAny;
    WorkerStatus& worker = status_.workers.emplace_back();
    worker.incarnation = 1;
    worker.state = "joined";
    worker.iteration = 5;
    worker.figures = {{"record.iterations", 100}, {"record.cpu_s", 1}, {"record.seconds", 1}};
    status_.tables.emplace_back().elements = 10;
    for (int i = 0; i < 2; ++i) status_.shards.emplace_back().figures = {{"blocks", 1}};
  }

  // The server works for a while; then the launcher looks at what the shards have told by then.
  void Look(double bytes_of_first, double bytes_of_second) {
    const double until_s = bench::ProcessorSeconds(getpid()) + kBurnedSeconds;
    while (bench::ProcessorSeconds(getpid()) < until_s) continue;
    status_.shards[0].figures["bytes_in"] = bytes_of_first;
    status_.shards[1].figures["bytes_out"] = bytes_of_second;
    recorder_.Look(status_, std::array{getpid()}, {});
  }

  double PerByte() {
    const Result<JobRecord> record = recorder_.Make(status_);
    EXPECT_TRUE(record.ok()) << record.status().ToString();
    return record.ok() ? record->costs.per_byte_s : -1;
  }

  LaunchOptions options_;
  RunRecorder recorder_{options_};
  JobStatus status_;
};

// The report of the shard with the bytes came before the first look, the next after the last: all that the
// servers did must not be put down to the few bytes of the other shard.
TEST_F(RunRecorderTest, AShardThatHasNotToldAnewMakesNoByteDear) {
  Look(1e6, 40);
  Look(1e6, 80);
  Look(1e6, 120);
  EXPECT_EQ(PerByte(), kPerByteOfAny);
}

TEST_F(RunRecorderTest, ReportsOfUnknownAgeBeginNothing) {
  Look(1e6, 40);
  Look(2e6, 80);
  EXPECT_EQ(PerByte(), kPerByteOfAny) << "one round of reports has no length";
}

TEST_F(RunRecorderTest, BytesAreSetAgainstTheTimeBetweenRoundsOfReports) {
  Look(1e6, 40);
  Look(2e6, 80);  // from here on
  Look(2e6, 120);
  Look(3e6, 120);  // to here: two looks of work, and a million bytes
  Look(3e6, 160);
  // Another process may have taken the core, but not this one's time.
  EXPECT_GE(PerByte(), 2 * kBurnedSeconds / 1e6);
  EXPECT_LT(PerByte(), 3 * kBurnedSeconds / 1e6);
}

TEST_F(RunRecorderTest, AShardWithoutBlocksIsNotWaitedFor) {
  status_.shards[1].figures["blocks"] = 0;
  Look(1e6, 0);
  Look(2e6, 0);
  Look(3e6, 0);
  EXPECT_GE(PerByte(), kBurnedSeconds / 1e6);
}

TEST_F(RunRecorderTest, BeforeTheyTrainNothingCounts) {
  status_.workers[0].iteration = 0;
  for (double bytes = 1e6; bytes < 5e6; bytes += 1e6) Look(bytes, bytes);
  EXPECT_EQ(PerByte(), kPerByteOfAny);
}

}  // namespace
}  // namespace leeway::app
