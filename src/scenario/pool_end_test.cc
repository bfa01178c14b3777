// The effect of a job's end on its model, when workers draw from a pool and leave one after another.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "scenario/run_scenario.h"

namespace leeway::scenario {
namespace {

constexpr std::uint64_t kSeeds = 8;
constexpr std::size_t kPointsBefore = 12;

// 16 workers, 2 of them 5 times slower, and a loss that consists of the noise of gradients: a step that is
// too long for the few samples behind it shows at once.
Scenario UnevenPool(const char* sync) {
  Scenario scenario;
  scenario.job.workers = 16;
  scenario.job.sync = sync;
  scenario.problem = "quadratic:dimensions=100,condition=10,noise=1";
  scenario.rate.rate = 0.5;
  scenario.pool = 805;
  scenario.compute.base_s = 0.05;
  scenario.compute.spread = 0.2;
  scenario.compute.factors = {{14, 5.0}, {15, 5.0}};
  scenario.recording.judge_every = 1;
  return scenario;
}

// The loss at the end over the mean loss shortly before, as a mean over the seeds.
double LossAtTheEndOverBefore(const char* sync) {
  const Scenario scenario = UnevenPool(sync);
  double ratios = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Result<RunRecord> record = RunScenario(scenario, problem::BuiltinProblems(), seed);
    EXPECT_TRUE(record.ok()) << record.status().ToString();
    if (!record.ok() || !record->errors.empty() || record->curve.size() < 2 * kPointsBefore) {
      ADD_FAILURE() << sync << " did not train, seed " << seed;
      return 0;
    }
    double before = 0;
    for (std::size_t i = record->curve.size() - 1 - kPointsBefore; i + 1 < record->curve.size(); ++i)
      before += record->curve[i].loss / kPointsBefore;
    ratios += record->curve.back().loss / before / kSeeds;
  }
  return ratios;
}

TEST(PoolEndTest, TheLastStepsOfAnEmptyPoolDoNotSpoilTheModel) {
  for (const char* sync : {"ssp:3", "bsp", "drop:12", "psp:12,0"})
    EXPECT_LT(LossAtTheEndOverBefore(sync), 1.15) << sync;
}

}  // namespace
}  // namespace leeway::scenario
