// FluentPS, Theorem 1: pssp(s, c) and ssp(s + 1/c - 1) have the same bound of regret (equations 1 to 3).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/hash.h"
#include "block/progress.h"
#include "sync/sync_policy.h"

namespace leeway {
namespace {

constexpr double kF = 2.0, kL = 3.0, kN = 8.0, kT = 1e6;

// Equation 1: SSP with threshold s, which need not be whole.
double SspBound(double s) { return 4.0 * kF * kL * std::sqrt(2.0 * (s + 1.0) * kN / kT); }
// Equation 3: constant PSSP.
double PsspBound(double s, double c) { return 4.0 * kF * kL * std::sqrt(2.0 * (s + 1.0 / c) * kN / kT); }

constexpr std::uint64_t kWorkers = 200'000;

double MeanGap(const std::vector<double>& held) {
  double mean = 0.0;
  for (std::size_t gap = 0; gap < held.size(); ++gap) mean += held[gap] * static_cast<double>(gap);
  return mean;
}

// How often a worker that pulls at gap 0, 1, 2, ... is held first at each gap, as the model decides it: the
// weights of equation 2.
std::vector<double> HeldAt(const std::string& sync, std::size_t gaps) {
  const auto policy = MakeSyncPolicy(BuiltinSyncModels(), sync);
  EXPECT_TRUE(policy.ok()) << policy.status().ToString();
  std::vector<double> held(gaps, 0.0);
  const Progress nobody;
  Memory memory;
  for (std::uint64_t worker = 0; worker < kWorkers; ++worker) {
    for (std::size_t gap = 0; gap < gaps; ++gap) {
      const SyncView view{.now = {},
                          .v_train = Iteration(0),
                          .advanced_at = {},
                          .progress = nobody,
                          .coin = UnitInterval(Hash64({1, worker, gap}))};
      const auto id = WorkerId(static_cast<std::uint32_t>(worker));
      if (policy->model->OnPull(view, memory, id, Iteration(static_cast<std::int64_t>(gap))) ==
          PullVerdict::kNow)
        continue;
      held[gap] += 1.0 / kWorkers;
      break;
    }
  }
  return held;
}

TEST(RegretTest, PsspAndItsPairedSspHoldWorkersAtTheSameGapAndHaveTheSameBound) {
  for (const std::int64_t s : {0, 1, 3, 10}) {
    for (const std::int64_t one_in : {1, 2, 4, 10}) {
      const double c = 1.0 / static_cast<double>(one_in);
      const std::int64_t paired = s + one_in - 1;
      const std::vector<double> ssp = HeldAt(fmt::format("ssp:{}", paired), 250);
      const std::vector<double> pssp = HeldAt(fmt::format("pssp:s={},c={}", s, c), 250);
      SCOPED_TRACE(fmt::format("s = {}, c = {}", s, c));
      EXPECT_NEAR(ssp[static_cast<std::size_t>(paired)], 1.0, 1e-9) << "ssp holds everybody there";
      // A geometric number of passes: its standard deviation is sqrt(1 - c) / c.
      const double error = std::sqrt(1.0 - c) / c / std::sqrt(static_cast<double>(kWorkers));
      EXPECT_NEAR(MeanGap(pssp), MeanGap(ssp), 4.0 * error + 1e-6);
      EXPECT_NEAR(SspBound(MeanGap(ssp)), PsspBound(static_cast<double>(s), c), 1e-6);
    }
  }
}

TEST(RegretTest, TheModelHoldsWorkersAtTheGapsOfEquationTwoAndStaysBelowTheBound) {
  for (const std::int64_t s : {0, 3}) {
    for (const double c : {0.25, 0.5, 1.0}) {
      const std::vector<double> held = HeldAt(fmt::format("pssp:s={},c={}", s, c), 80);
      double regret = 0.0;
      for (std::size_t gap = 0; gap < held.size(); ++gap) {
        const auto k = static_cast<double>(gap) - static_cast<double>(s);
        const double wanted = k < 0.0 ? 0.0 : c * std::pow(1.0 - c, k);
        const double error = std::sqrt(wanted * (1.0 - wanted) / 200'000.0);
        // Where hardly anybody comes the share is no normal variable.
        if (wanted == 0.0 || wanted > 1e-3) {
          EXPECT_NEAR(held[gap], wanted, 4.0 * error + 1e-9) << s << " " << c << " " << gap;
        }
        regret += held[gap] * SspBound(static_cast<double>(gap));
      }
      // The paired ssp is the one whose threshold is where pssp holds a worker on average.
      EXPECT_NEAR(MeanGap(held), static_cast<double>(s) + 1.0 / c - 1.0, 0.05);
      EXPECT_LE(regret, PsspBound(static_cast<double>(s), c) * 1.001);
      EXPECT_GE(regret, PsspBound(static_cast<double>(s), c) * 0.8) << "the bound says something";
    }
  }
}

}  // namespace
}  // namespace leeway
