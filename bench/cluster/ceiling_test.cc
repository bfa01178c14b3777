#include "bench/cluster/ceiling.h"

#include <gtest/gtest.h>

namespace leeway::bench {
namespace {

ClusterLoad EvenLoad(std::uint32_t machines, double bytes) {
  return {.workers = machines, .server_bytes = std::vector<double>(machines, bytes / machines)};
}

TEST(CeilingTest, WhatAMachineKeepsDoesNotPassItsCard) {
  const CardBytes most = MostLoadedCard(EvenLoad(4, 100));
  EXPECT_DOUBLE_EQ(most.push, 75);
  EXPECT_DOUBLE_EQ(most.pull, 75);
  EXPECT_DOUBLE_EQ(most.both, 150);
  EXPECT_DOUBLE_EQ(MostLoadedCard(EvenLoad(1, 100)).both, 0);
}

TEST(CeilingTest, TheFullestServerIsTheMostLoadedCard) {
  // Out of card 0: 20 to server 1, and three answers of 80.
  const CardBytes most = MostLoadedCard({.workers = 4, .server_bytes = {80, 20}});
  EXPECT_DOUBLE_EQ(most.pull, 240);
  EXPECT_DOUBLE_EQ(most.both, 260);
}

TEST(CeilingTest, ServersApartHaveTheirOwnCards) {
  const CardBytes most = MostLoadedCard({.workers = 2, .server_bytes = {50, 50}, .together = false});
  EXPECT_DOUBLE_EQ(most.push, 100);
  EXPECT_DOUBLE_EQ(most.both, 100);
  EXPECT_DOUBLE_EQ(MostLoadedCard({.workers = 4, .server_bytes = {70, 30}, .together = false}).both, 280);
}

// Inception-v4 at 1 Gbit/s on 4 machines, 1.47 steps/s alone: 1.5 times 170.6 MB pass each card in a step.
TEST(CeilingTest, InceptionV4OfTheThesisReachesFourThirdsAtMost) {
  CeilingPlan plan{
      .load = EvenLoad(4, 42'648'232 * 4.0), .step_s = 1 / 1.47, .rate = LinkRate{1'000'000'000}};
  EXPECT_NEAR(LeastStepSeconds(plan), 2.047, 0.001);
  EXPECT_NEAR(SpeedupCeiling(plan), 1.329, 0.001);
  plan.overlaps = false;
  EXPECT_NEAR(SpeedupCeiling(plan), 0.998, 0.001);
  plan.exchanges_a_step = 0.25;
  plan.overlaps = true;
  EXPECT_DOUBLE_EQ(SpeedupCeiling(plan), 4);
}

TEST(CeilingTest, WithoutALimitComputeIsTheCeiling) {
  EXPECT_DOUBLE_EQ(SpeedupCeiling({.load = EvenLoad(4, 1e9), .step_s = 0.1, .rate = {}}), 4);
}

}  // namespace
}  // namespace leeway::bench
