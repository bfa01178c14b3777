// Workers' own rules under every model, in whole jobs and under faults: partial pull, exchange, and steps
// without overlap, where the model leaves room for them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "sim/workloads/steps.h"

namespace leeway::sim {
namespace {

using std::chrono::milliseconds;

struct Combined {
  const char* sync;
  bool drops = false;  // late pushes: then not all gradients arrive
};
constexpr Combined kCombined[] = {{"bsp"},
                                  {"asp"},
                                  {"ssp:2"},
                                  {"ssp:2,release=soft"},
                                  {"dsps:0,4,2"},
                                  {"dssp:1,4"},
                                  {"drop:2", true},
                                  {"drop:2,late=apply"},
                                  {"pssp:1,0.5"},
                                  {"pssp:1,alpha=significance"},
                                  {"psp:2,2", true},
                                  {"psp:2,2,late=apply"},
                                  {"psp:2,1,ahead=sum,late=apply"},
                                  {"bounded:1"},
                                  {"ssptable:2"},
                                  {"when:pull=\"gap < 2 || rand > 0.5\",push=\"count >= workers\""}};

// Every model with these options of the job, a few seeds each.
struct Sum {
  std::uint64_t skipped_blocks = 0, exchanges_skipped = 0, iterations_skipped = 0, cuts = 0;
  std::int64_t longest_skip = 0;  // iterations between two steps of a worker
};
Sum RunAll(const JobOptions& with, const std::string& without) {
  Sum sum;
  for (const Combined& model : kCombined) {
    if (without.find(model.sync) != std::string::npos) continue;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      StepsOptions options;
      options.job = with;
      options.job.workers = 3;
      options.job.servers = 2;
      options.job.shards = 1;
      options.job.sync = model.sync;
      options.seed = seed;
      options.faults = true;
      options.steps = {15, 12, 9};
      options.script = [](Cluster& cluster) {
        cluster.queue().At(milliseconds(60), [&cluster] { cluster.PauseServer(1, milliseconds(160)); });
      };
      const StepsReport report = RunSteps(options);
      SCOPED_TRACE(fmt::format("{} seed {}", model.sync, seed));
      for (const std::string& problem : report.problems) ADD_FAILURE() << problem;
      for (std::size_t i = 0; i < report.values.size(); ++i) {
        const float given = 1.0F + static_cast<float>(report.given[i % report.given.size()]);
        const bool well = model.drops ? report.values[i] <= given : report.values[i] == given;
        if (well) continue;
        ADD_FAILURE() << "element " << i << ": got " << report.values[i] << ", wanted " << given;
        break;
      }
      for (const WorkerCounters& counters : report.counters) {
        sum.skipped_blocks += counters.skipped_blocks;
        sum.exchanges_skipped += counters.exchanges_skipped;
        sum.iterations_skipped += counters.iterations_skipped;
      }
      sum.cuts += report.cuts;
      for (const std::vector<StepRecord>& steps : report.steps) {
        for (std::size_t i = 1; i < steps.size(); ++i) {
          sum.longest_skip = std::max(sum.longest_skip, steps[i].iteration - steps[i - 1].iteration - 1);
        }
      }
    }
  }
  return sum;
}

TEST(RuleCombinationsSimTest, PartialPullUnderEveryModelThatAllowsIt) {
  JobOptions with;
  with.pull = "partial:0.4,1,skip_max=2";
  const Sum sum = RunAll(with, "ssptable:2");
  EXPECT_GT(sum.skipped_blocks, 50U);
  EXPECT_GT(sum.iterations_skipped, 0U);
  EXPECT_GT(sum.longest_skip, 1);
  EXPECT_GT(sum.cuts, 20U);
}

TEST(RuleCombinationsSimTest, ExchangeUnderEveryModelThatAllowsIt) {
  JobOptions with;
  with.exchange = "every:2";
  const Sum sum = RunAll(with, "ssptable:2 bounded:1");
  EXPECT_GT(sum.exchanges_skipped, 500U);
  EXPECT_GT(sum.cuts, 20U);
}

TEST(RuleCombinationsSimTest, StepsWithoutOverlapUnderEveryModel) {
  JobOptions with;
  with.overlap = false;
  const Sum sum = RunAll(with, "");
  // The others may end a step without a worker that was cut off after the barrier; then they wait at the
  // next.
  EXPECT_LE(sum.longest_skip, 1) << "all make a step together";
  EXPECT_GT(sum.cuts, 20U);
}

TEST(RuleCombinationsSimTest, WhatAModelLeavesNoRoomForIsRefused) {
  StepsOptions options;
  options.job.workers = 2;
  options.job.sync = "ssptable:2";
  options.job.exchange = "every:2";
  const StepsReport report = RunSteps(options);
  ASSERT_FALSE(report.problems.empty());
  EXPECT_THAT(report.problems[0], ::testing::HasSubstr("use exchange \"every:1\""));
}

}  // namespace
}  // namespace leeway::sim
