// FluentPS, Theorem 1: pssp(s, c) and ssp(s + 1/c - 1) have the same bound of regret (equations 1 to 3).
#include <gtest/gtest.h>

#include <cmath>

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

// How often a worker that pulls at gap 0, 1, 2, ... is held first at each gap, as the model decides it: the
// weights of equation 2.
std::vector<double> HeldAt(std::int64_t s, double c, std::size_t gaps) {
  const auto policy = MakeSyncPolicy(BuiltinSyncModels(), fmt::format("pssp:s={},c={}", s, c));
  EXPECT_TRUE(policy.ok()) << policy.status().ToString();
  constexpr std::uint64_t kWorkers = 200'000;
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

TEST(RegretTest, PsspAndItsPairedSspHaveTheSameBound) {
  for (const double s : {0.0, 1.0, 3.0, 10.0}) {
    for (const double c : {0.1, 0.25, 0.5, 1.0}) {
      const double paired = s + 1.0 / c - 1.0;
      EXPECT_DOUBLE_EQ(PsspBound(s, c), SspBound(paired)) << s << " " << c;
    }
  }
}

TEST(RegretTest, TheModelHoldsWorkersAtTheGapsOfEquationTwoAndStaysBelowTheBound) {
  for (const std::int64_t s : {0, 3}) {
    for (const double c : {0.25, 0.5, 1.0}) {
      const std::vector<double> held = HeldAt(s, c, 80);
      double regret = 0.0, mean_gap = 0.0;
      for (std::size_t gap = 0; gap < held.size(); ++gap) {
        const auto k = static_cast<double>(gap) - static_cast<double>(s);
        const double wanted = k < 0.0 ? 0.0 : c * std::pow(1.0 - c, k);
        EXPECT_NEAR(held[gap], wanted, 4.0 * std::sqrt(wanted / 200'000.0) + 1e-9)
            << s << " " << c << " " << gap;
        regret += held[gap] * SspBound(static_cast<double>(gap));
        mean_gap += held[gap] * static_cast<double>(gap);
      }
      // The paired ssp is the one whose threshold is where pssp holds a worker on average.
      EXPECT_NEAR(mean_gap, static_cast<double>(s) + 1.0 / c - 1.0, 0.05);
      EXPECT_LE(regret, PsspBound(static_cast<double>(s), c) * 1.001);
      EXPECT_GE(regret, PsspBound(static_cast<double>(s), c) * 0.8) << "the bound says something";
    }
  }
}

}  // namespace
}  // namespace leeway
