#include "simulate/ranking.h"

#include <gtest/gtest.h>

#include <cmath>

namespace leeway::app {
namespace {

TEST(RankingTest, ADifferenceCountsIfItIsLargerThanItsSpread) {
  // Differences 1, 1, 1; then 3, -1, 1 with mean 1 and deviation 2.
  EXPECT_TRUE(IsBeyondSpread({"a", {5, 9, 20}}, {"b", {4, 8, 19}}))
      << "each seed gives both the same machines";
  EXPECT_FALSE(IsBeyondSpread({"a", {5, 9, 20}}, {"b", {2, 10, 19}}));
  EXPECT_FALSE(IsBeyondSpread({"a", {5}}, {"b", {1}})) << "nothing is known of the spread of one seed";
  EXPECT_FALSE(IsBeyondSpread({"a", {5, NAN}}, {"b", {1, 1}}));
}

TEST(RankingTest, TheOthersAreNamedByTheirDistanceFromTheFirst) {
  EXPECT_EQ(RankingText("the end", {{"bsp", {40, 42}}, {"ssp:3", {11, 12}}, {"asp", {10, 11}}}),
            "asp is the first to the end, after 10.5 s; ssp:3 takes 9.5 % longer (11.5 s) and bsp takes 3.9 "
            "times as "
            "long (41 s).");
}

TEST(RankingTest, OneWithinTheSpreadIsNotCalledSlower) {
  EXPECT_EQ(
      RankingText("the end", {{"ssp:3", {9, 12}}, {"asp", {10, 10}}}),
      "asp is the first to the end, after 10 s; ssp:3 (10.5 s) is not distinguishable from it over 2 seeds.");
}

TEST(RankingTest, OneSeedSaysSo) {
  EXPECT_EQ(RankingText("the end", {{"bsp", {40}}, {"asp", {10}}}),
            "asp is the first to the end, after 10 s; bsp takes 4 times as long (40 s) (one seed: the spread "
            "is not "
            "known).");
}

TEST(RankingTest, OneThatNeverGetsThereIsNamedLast) {
  EXPECT_EQ(RankingText("loss 0.5", {{"bsp", {NAN, NAN}}, {"asp", {10, 11}}}),
            "asp is the first to loss 0.5, after 10.5 s; bsp never gets there.");
  EXPECT_EQ(RankingText("loss 0.5", {{"bsp", {NAN}}}), "");
}

TEST(RankingTest, OneThatGetsThereWithSomeSeedsIsNotTheFirst) {
  EXPECT_EQ(RankingText("loss 0.5", {{"bsp", {10, 11, 12}}, {"psp:3", {5, NAN, NAN}}}),
            "bsp is the first to loss 0.5, after 11 s; not always there: psp:3 in 1 of 3 runs.");
  EXPECT_EQ(RankingText("the end", {{"bsp", {10, NAN}}, {"asp", {NAN, NAN}}}),
            "None gets to the end in all runs: bsp in 1 of 2 runs.");
}

TEST(RankingTest, OneSeedMayEndInATie) {
  EXPECT_EQ(RankingText("the end", {{"ssp:3", {10}}, {"asp", {10}}}),
            "ssp:3 is the first to the end, after 10 s; asp (10 s) is not distinguishable from it (one seed: "
            "the spread is not known).");
}

}  // namespace
}  // namespace leeway::app
