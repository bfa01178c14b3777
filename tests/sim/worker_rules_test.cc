// Workers' own rules, in whole jobs: partial pull, exchange, bounded, skipping ahead, steps without overlap.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/workloads/steps.h"

namespace leeway::sim {
namespace {

using std::chrono::milliseconds;

StepsOptions Job(const char* sync, std::uint32_t workers = 3) {
  StepsOptions options;
  options.job.workers = workers;
  options.job.servers = 2;
  options.job.shards = 1;
  options.job.sync = sync;
  return options;
}

void ExpectWell(const StepsReport& report) {
  for (const std::string& problem : report.problems) ADD_FAILURE() << problem;
}

// Nothing was dropped: every cell holds its worker's gradients, once, on top of the 1 it began with.
void ExpectAllTaken(const StepsReport& report) {
  ExpectWell(report);
  for (std::size_t i = 0; i < report.values.size(); ++i) {
    const std::uint64_t given = report.given[i % report.given.size()];
    ASSERT_EQ(report.values[i], 1.0F + static_cast<float>(given)) << "element " << i;
  }
}

TEST(ExchangeSimTest, EveryGradientArrivesOnceWhateverAddsUpAndWhateverIsCut) {
  std::uint64_t skipped = 0, cuts = 0;
  for (const char* exchange : {"every:3", "when_stale:2", "significant:0.2"}) {
    for (const char* sync : {"bsp", "ssp:2", "asp"}) {
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        StepsOptions options = Job(sync);
        options.seed = seed;
        options.faults = true;
        options.job.exchange = exchange;
        options.steps = {20, 17, 13};
        const StepsReport report = RunSteps(options);
        SCOPED_TRACE(fmt::format("{} {} seed {}", exchange, sync, seed));
        ExpectAllTaken(report);
        for (const WorkerCounters& counters : report.counters) skipped += counters.exchanges_skipped;
        cuts += report.cuts;
      }
    }
  }
  EXPECT_GT(skipped, 500U);
  EXPECT_GT(cuts, 20U);
}

// Steps that all workers together began while server 1 stood still.
std::size_t StepsInThePause(const char* pull) {
  StepsOptions options = Job("bsp");
  options.job.pull = pull;
  options.steps = {40};
  options.compute = [](std::uint32_t, std::uint32_t) { return milliseconds(2); };
  options.script = [](Cluster& cluster) {
    cluster.queue().At(milliseconds(60), [&cluster] { cluster.PauseServer(1, milliseconds(360)); });
  };
  const StepsReport report = RunSteps(options);
  ExpectAllTaken(report);
  std::size_t begun = 0;
  for (const auto& steps : report.steps) {
    begun += static_cast<std::size_t>(std::ranges::count_if(steps, [](const StepRecord& step) {
      return step.begun > milliseconds(70) && step.begun < milliseconds(350);
    }));
  }
  return begun;
}

TEST(PartialPullSimTest, WorkersGoOnWithoutASlowServerForSkipMaxIterationsAndNoMore) {
  EXPECT_EQ(StepsInThePause("full"), 0U);
  const std::size_t two = StepsInThePause("partial:0.4,5,skip_max=2");
  EXPECT_GE(two, 3U);
  EXPECT_LE(two, 3U * 2U);
  const std::size_t five = StepsInThePause("partial:0.4,5,skip_max=5");
  EXPECT_GT(five, two);
  EXPECT_LE(five, 3U * 5U);
}

// Little is in flight at a time, so a stalled path keeps answers at the server.
TEST(PartialPullSimTest, EveryGradientArrivesOnceWhateverAnswersAreWithdrawnAndWhateverIsCut) {
  std::uint64_t withdrawn = 0, skipped = 0, cuts = 0;
  for (const char* sync : {"bsp", "ssp:2", "asp"}) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      StepsOptions options = Job(sync);
      options.seed = seed;
      options.faults = true;
      options.network.window_bytes = 256;
      options.job.pull = "partial:0.4,0,skip_max=1000,late_pull=withdraw";
      options.steps = {40, 34, 26};
      const StepsReport report = RunSteps(options);
      SCOPED_TRACE(fmt::format("{} seed {}", sync, seed));
      ExpectAllTaken(report);
      for (const WorkerCounters& counters : report.counters) skipped += counters.skipped_blocks;
      withdrawn += report.answers_withdrawn;
      cuts += report.cuts;
    }
  }
  EXPECT_GT(withdrawn, 20U);
  EXPECT_GT(skipped, 100U);
  EXPECT_GT(cuts, 20U);
}

TEST(BoundedSimTest, NeverMoreThanDPlusOneIterationsHaveOpenPushes) {
  for (const std::int64_t d : {0, 1, 3}) {
    std::int64_t most = 0;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      StepsOptions options = Job(fmt::format("bounded:{}", d).c_str());
      options.seed = seed;
      options.steps = {60};
      // A worker that reads its pulled values has its verdicts before: only a worker that continues without
      // the values of a server can have many pushes open there.
      options.job.pull = "partial:0.4,1,skip_max=1000";
      options.script = [](Cluster& cluster) {
        cluster.queue().At(milliseconds(60), [&cluster] { cluster.PauseServer(1, milliseconds(360)); });
      };
      const StepsReport report = RunSteps(options);
      ExpectAllTaken(report);
      for (const auto& steps : report.steps) {
        for (const StepRecord& step : steps) most = std::max(most, step.open);
      }
    }
    EXPECT_EQ(most, d + 1) << "reached, and not passed";
  }
}

// Two of three end an iteration, and psp gives the third a millisecond.
constexpr const char* kSkipping[] = {"drop:2", "psp:2,1"};

TEST(SkipAheadSimTest, AWorkerThatWasSlowForAWhileContributesAgainByItsSecondStep) {
  constexpr std::uint32_t kSlowFrom = 10, kSlowTo = 16;
  for (const char* sync : kSkipping) {
    std::uint64_t skipped = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE(fmt::format("{} seed {}", sync, seed));
      StepsOptions options = Job(sync);
      options.seed = seed;
      options.steps = {30, 60, 60};
      // Ranks 0 and 1 end an iteration, and rank 2 instead of rank 0 while that is slow.
      options.compute = [seed](std::uint32_t rank, std::uint32_t step) -> Duration {
        const bool slow = rank == 0 && step >= kSlowFrom && step < kSlowTo;
        return milliseconds(rank == 2 ? 9 : 4) * (slow ? 4 : 1) +
               std::chrono::microseconds((seed * 37 + rank * 11 + step) % 50);
      };
      const StepsReport report = RunSteps(options);
      ExpectWell(report);
      const std::vector<StepRecord>& mine = report.steps[0];
      ASSERT_EQ(mine.size(), 30U);
      std::uint32_t late = 0;
      for (std::uint32_t step = kSlowFrom; step < kSlowTo; ++step) late += mine[step].taken == 0;
      EXPECT_GE(late, 4U) << "while slow it comes too late";
      EXPECT_GT(mine[kSlowTo + 1].taken, 0U);
      EXPECT_GT(mine[kSlowTo + 1].iteration, std::int64_t{kSlowTo} + 2) << "it left out what was over";
      skipped += report.counters[0].iterations_skipped;
      // The others were not delayed: 60 steps of 9 ms plus the network's time.
      EXPECT_LT(report.virtual_ms, 60 * 9 * 1.4);
    }
    EXPECT_GT(skipped, 20U) << sync;
  }
}

// Rank 0 is always four times slower than the others.
StepsOptions OneSlow(const std::string& sync, std::uint64_t seed) {
  StepsOptions options = Job(sync.c_str());
  options.seed = seed;
  options.steps = {20, 80};
  options.compute = [seed](std::uint32_t rank, std::uint32_t step) -> Duration {
    return milliseconds(rank == 0 ? 16 : 4) + std::chrono::microseconds((seed * 37 + rank * 11 + step) % 50);
  };
  return options;
}

TEST(SkipAheadSimTest, AWorkerThatIsAlwaysSlowContributesItsStepsWhereLateOnesAreApplied) {
  for (const char* sync : kSkipping) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE(fmt::format("{} seed {}", sync, seed));
      const StepsReport report = RunSteps(OneSlow(std::string(sync) + ",late=apply", seed));
      ExpectAllTaken(report);
      ASSERT_EQ(report.steps[0].size(), 20U);
      const auto whole = std::ranges::count(report.steps[0], kStepsBlocks, &StepRecord::taken);
      EXPECT_GE(whole, 18) << "of 20";
      EXPECT_GT(report.servers.late_applied, 0U) << "it was slow";
      EXPECT_GT(report.counters[0].iterations_skipped, 0U);
    }
  }
}

// The job status's total of a figure over all workers or servers.
std::uint64_t Total(const StepsReport& report, const char* figure) {
  const nlohmann::json status = nlohmann::json::parse(report.status_json);
  const auto found = status.at("totals").find(figure);
  return found == status.at("totals").end() ? 0 : found->get<std::uint64_t>();
}

// Of the gradients that workers handed in, the blocks that no server took; and of these, the ones that a
// server dropped.
struct Books {
  std::uint64_t missing = 0, dropped = 0;
};
Books Booked(const StepsReport& report) {
  Books books;
  for (std::size_t rank = 0; rank < report.steps.size(); ++rank) {
    std::uint64_t taken = 0;
    for (const StepRecord& step : report.steps[rank]) {
      taken += step.taken;
      books.dropped += step.late;
    }
    books.missing += report.given[rank] * kStepsBlocks - taken;
  }
  return books;
}

TEST(SkipAheadSimTest, TheJobSaysHowManyLateGradientsWereDropped) {
  for (const char* sync : kSkipping) {
    std::uint64_t withheld = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE(fmt::format("{} seed {}", sync, seed));
      StepsOptions options = OneSlow(std::string(sync) + ",late=drop", seed);
      // A worker that continues without the values of a server hears of its iterations while it computes, and
      // stops sending it gradients that it then knows to be late.
      if (seed % 2 == 0) options.job.pull = "partial:0.4,1,skip_max=3";
      options.script = [](Cluster& cluster) {
        cluster.queue().At(milliseconds(60), [&cluster] { cluster.PauseServer(1, milliseconds(70)); });
      };
      const StepsReport report = RunSteps(options);
      ExpectWell(report);
      const Books books = Booked(report);
      EXPECT_GT(books.dropped, 5 * kStepsBlocks) << "most of what a slow worker gives comes late";
      EXPECT_EQ(Total(report, "server.late_dropped"), books.dropped);
      EXPECT_EQ(Total(report, "worker.late_dropped"), books.dropped);
      EXPECT_EQ(Total(report, "worker.skipped_late"), books.missing - books.dropped);
      withheld += books.missing - books.dropped;
    }
    EXPECT_GT(withheld, 0U) << sync;
  }
}

TEST(StepSimTest, WithoutOverlapNothingIsLostAndNobodyHangsWhenWorkersEndAtDifferentSteps) {
  for (const char* sync : {"bsp", "asp"}) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      StepsOptions options = Job(sync);
      options.seed = seed;
      options.faults = true;
      options.job.overlap = false;
      options.steps = {20, 11, 15};
      ExpectAllTaken(RunSteps(options));
    }
  }
}

TEST(StepSimTest, WithoutOverlapTheDeathOfAMemberHoldsUpTheOthersOnlyUntilItIsDeclaredDead) {
  StepsOptions options = Job("bsp");
  options.job.overlap = false;
  options.steps = {30};
  options.mortal = {1};
  options.script = [](Cluster& cluster) {
    cluster.queue().At(milliseconds(60), [&cluster] { cluster.CrashWorker(1); });
  };
  const StepsReport report = RunSteps(options);
  ExpectWell(report);
  EXPECT_EQ(report.given[0], 30U);
  EXPECT_EQ(report.given[2], 30U);
}

}  // namespace
}  // namespace leeway::sim
