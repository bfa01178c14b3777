#include "scenario/compute_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace leeway::scenario {
namespace {

std::vector<double> Times(const ComputeModel& model, std::uint32_t rank, std::uint64_t n,
                          std::uint64_t seed = 1) {
  ComputeTime time(model, 1, seed, rank);
  std::vector<double> seconds;
  for (std::uint64_t i = 0; i < n; ++i) seconds.push_back(std::chrono::duration<double>(time.Of(i)).count());
  return seconds;
}

double MedianOf(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

TEST(ComputeTimeTest, WithoutSpreadEveryIterationTakesTheBase) {
  const ComputeModel model{.base_s = 0.25};
  for (const double s : Times(model, 3, 20)) EXPECT_DOUBLE_EQ(s, 0.25);
}

TEST(ComputeTimeTest, SpreadIsLognormalAroundTheBase) {
  const std::vector<double> times = Times({.base_s = 2, .spread = 0.3}, 0, 20'000);
  EXPECT_NEAR(MedianOf(times), 2.0, 0.02);
  double squares = 0;
  for (const double s : times) squares += std::pow(std::log(s / 2.0), 2);
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(times.size())), 0.3, 0.01);
}

TEST(ComputeTimeTest, TimesBeyondAnyClockAreLongAndNotShort) {
  const ComputeModel model{
      .base_s = 86'400, .factors = {{0, 1000.0}}, .tail_chance = 1, .tail_alpha = 0.01, .tail_max = 1e6};
  for (const double s : Times(model, 0, 20)) EXPECT_GT(s, 8e7);
}

TEST(ComputeTimeTest, AWorkerKeepsItsOwnFactor) {
  const ComputeModel model{.base_s = 1, .heterogeneity = 0.5, .factors = {{2, 3.0}}};
  std::vector<double> logs;
  for (std::uint32_t rank = 0; rank < 2000; ++rank) {
    const std::vector<double> times = Times(model, rank, 3);
    EXPECT_DOUBLE_EQ(times[0], times[2]);
    if (rank != 2) logs.push_back(std::log(times[0]));
  }
  EXPECT_NEAR(MedianOf(logs), 0.0, 0.05);
  EXPECT_NEAR(Times(model, 2, 1)[0], 3.0 * Times({.base_s = 1, .heterogeneity = 0.5}, 2, 1)[0], 1e-8);
}

TEST(ComputeTimeTest, TheTailIsHeavyRareAndBounded) {
  const ComputeModel model{.base_s = 1, .tail_chance = 0.1, .tail_alpha = 1, .tail_max = 50};
  const std::vector<double> times = Times(model, 0, 50'000);
  const auto above = [&](double x) {
    return static_cast<double>(std::ranges::count_if(times, [x](double s) { return s > x; })) / 50'000;
  };
  EXPECT_NEAR(above(1.0), 0.1, 0.01);
  EXPECT_NEAR(above(10.0), 0.01, 0.002);
  EXPECT_LE(*std::ranges::max_element(times), 50.0);
}

TEST(ComputeTimeTest, PhasesLastAndTheirShareIsAsDrawn) {
  const ComputeModel model{.base_s = 1, .phase_chance = 0.01, .phase_iterations = 20, .phase_factor = 4};
  const std::vector<double> times = Times(model, 0, 100'000);
  std::size_t slow = 0, begins = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    slow += times[i] > 2 ? 1 : 0;
    begins += times[i] > 2 && (i == 0 || times[i - 1] < 2) ? 1 : 0;
  }
  // 20 of every 20 + 100 iterations.
  EXPECT_NEAR(static_cast<double>(slow) / 100'000, 20.0 / 120.0, 0.02);
  EXPECT_NEAR(static_cast<double>(slow) / static_cast<double>(begins), 20.0, 2.0);
}

TEST(ComputeTimeTest, IterationsThatAreLeftOutChangeNoOther) {
  const ComputeModel model{.base_s = 1, .spread = 0.2, .phase_chance = 0.1, .phase_factor = 3};
  const std::vector<double> all = Times(model, 1, 100);
  ComputeTime time(model, 1, 1, 1);
  for (std::uint64_t i = 0; i < 100; i += 7) {
    EXPECT_DOUBLE_EQ(std::chrono::duration<double>(time.Of(i)).count(), all[i]);
  }
  EXPECT_NE(all, Times(model, 1, 100, 2));
  EXPECT_NE(all, Times(model, 2, 100));
}

}  // namespace
}  // namespace leeway::scenario
