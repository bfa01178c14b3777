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
    WorkerStatus& worker = status_.workers.emplace_back();
    worker.incarnation = 1;
    worker.state = "joined";
    worker.iteration = 5;
    worker.figures = {{"record.iterations", 100}, {"record.cpu_s", 1}, {"record.seconds", 1}};
    status_.tables.emplace_back().elements = 10;
    status_.shards.resize(2);
  }

  static RunToRecord OneWorker() {
    RunToRecord run;
    run.job.workers = 1;
    run.costs.per_byte_s = kPerByteOfAny;
    return run;
  }

  // The server works for a while; then the launcher looks. Meanwhile the shards that move bytes have
  // reported.
  void Look(double first_moved, double second_moved) {
    const double until_s = bench::ProcessorSeconds(getpid()) + kBurnedSeconds;
    while (bench::ProcessorSeconds(getpid()) < until_s) continue;
    Report(0, first_moved);
    Report(1, second_moved);
    recorder_.Look(status_, std::array{getpid()}, {});
  }

  void Report(std::size_t shard, double moved) {
    if (moved == 0) return;
    status_.shards[shard].figures["bytes_in"] += moved;
    status_.shards[shard].figures["reports"] += 1;
  }

  double PerByte() {
    const Result<JobRecord> record = recorder_.Make(status_);
    EXPECT_TRUE(record.ok()) << record.status().ToString();
    return record.ok() ? record->costs.per_byte_s : -1;
  }

  RunRecorder recorder_{OneWorker()};
  JobStatus status_;
};

// The report of the shard with the bytes came before the first look, the next after the last: all that the
// servers did must not be put down to the few bytes of the other shard.
TEST_F(RunRecorderTest, AShardThatHasNotToldAnewMakesNoByteDear) {
  Look(1e6, 40);
  Look(0, 40);
  Look(0, 40);
  EXPECT_EQ(PerByte(), kPerByteOfAny);
}

TEST_F(RunRecorderTest, ReportsOfUnknownAgeBeginNothing) {
  Look(1e6, 40);
  Look(1e6, 40);
  EXPECT_EQ(PerByte(), kPerByteOfAny) << "one round of reports has no length";
}

TEST_F(RunRecorderTest, BytesAreSetAgainstTheTimeBetweenRoundsOfReports) {
  Look(1e6, 40);
  Look(1e6, 40);  // from here on
  Look(0, 40);
  Look(1e6, 0);  // to here: two looks of work, and a million bytes
  Look(0, 40);
  EXPECT_GE(PerByte(), 2 * kBurnedSeconds / 1.1e6);
  EXPECT_LT(PerByte(), 5 * kBurnedSeconds / 1e6);
}

TEST_F(RunRecorderTest, BeforeTheyTrainNothingCounts) {
  status_.workers[0].iteration = 0;
  for (int i = 0; i < 4; ++i) Look(1e6, 1e6);
  EXPECT_EQ(PerByte(), kPerByteOfAny);
}

}  // namespace
}  // namespace leeway::app
