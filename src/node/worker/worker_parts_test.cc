// The small parts of what a worker does by itself: sums, significance, causes of waits, the share of blocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "node/worker/gradient_sum.h"
#include "node/worker/partial_pull.h"
#include "node/worker/push_queue.h"
#include "node/worker/significance.h"
#include "node/worker/wait_causes.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;

TEST(GradientSumTest, AddsValuesKeepsTheLastHyperAndCountsAsOneGradient) {
  BufferPool pool(1 << 20);
  GradientSum sum;
  EXPECT_TRUE(sum.empty());
  const std::vector<float> one{1, 2}, two{10, 20};
  sum.Add({one, nullptr, {.lr = 0.1F}, 3}, pool);
  sum.Add({two, nullptr, {.lr = 0.2F}, 9}, pool);
  const LentGradient taken = sum.Take();
  EXPECT_THAT(std::vector<float>(taken.values.begin(), taken.values.end()), ElementsAre(11, 22));
  EXPECT_EQ(taken.hyper.lr, 0.2F);
  EXPECT_EQ(taken.samples, 6U);
  EXPECT_TRUE(sum.empty());
  for (int i = 0; i < 3; ++i) sum.Add({one, nullptr, {}, std::numeric_limits<std::uint32_t>::max()}, pool);
  EXPECT_EQ(sum.Take().samples, std::numeric_limits<std::uint32_t>::max() / 3) << "as many as can be said";
}

TEST(SignificanceTest, IsTheRatioOfNormsOverAnyNumberOfValues) {
  for (const std::size_t n : {1U, 7U, 8U, 9U, 1000U}) {
    const std::vector<float> g(n, 3.0F), w(n, 4.0F);
    EXPECT_DOUBLE_EQ(Significance(g, w), 0.75) << n;
  }
  const std::vector<float> g{3, 0}, w{0, 6}, zero{0, 0}, nan{std::numeric_limits<float>::quiet_NaN(), 0};
  EXPECT_EQ(Significance(g, w), 0.5);
  EXPECT_EQ(Significance(zero, w), 0.0);
  EXPECT_EQ(Significance(g, zero), std::numeric_limits<double>::infinity());
  EXPECT_EQ(Significance(nan, w), std::numeric_limits<double>::infinity());
}

TEST(WaitCausesTest, NamesAreBoundedInLengthAndNumber) {
  std::map<std::string, std::uint64_t> causes;
  WaitCauses::Add(causes, "server", "0", Duration(5));
  WaitCauses::Add(causes, "server", "0", Duration(6));
  WaitCauses::Add(causes, "server", "1", Duration::zero());
  for (int i = 0; i < 100; ++i) WaitCauses::Add(causes, "table", std::to_string(i), Duration(1));
  EXPECT_EQ(causes.at("server.0"), 11U);
  EXPECT_EQ(causes.size(), 1 + WaitCauses::kCausesMax + 1);
  EXPECT_EQ(causes.at("table.others"), 100 - WaitCauses::kCausesMax);
  WaitCauses::Add(causes, "x", std::string(1000, 'n'), Duration(1));
  EXPECT_LE(causes.rbegin()->first.size(), 64U);
}

TEST(PartialPullTest, OpensOnceTheShareIsReachedAndSaysSoOnce) {
  PullPolicy policy;
  policy.partial = true;
  policy.share_min = 0.9;
  PartialPull partial(policy);
  EXPECT_FALSE(partial.Reaches(0, 0));
  EXPECT_FALSE(partial.Reaches(8, 10));
  partial.Open();
  EXPECT_FALSE(partial.open()) << "a timer of the iteration before";
  EXPECT_TRUE(partial.Reaches(9, 10));
  EXPECT_FALSE(partial.Reaches(10, 10));
  partial.Open();
  EXPECT_TRUE(partial.open());
  partial.Begin();
  EXPECT_FALSE(partial.open());
  EXPECT_FALSE(PartialPull().Reaches(10, 10)) << "full";
}

TEST(WithholdTest, OnlyWhatIsLateAndWasNeverSentIsHeldBack) {
  PushQueue queue;
  const auto lent = std::make_shared<LentPush>();
  for (int i = 0; i < 4; ++i) queue.Append(Iteration(i), lent, Version(1), 8);
  (void)queue.MarkSent();
  EXPECT_EQ(queue.Withhold(Iteration(3)), 2U);
  EXPECT_EQ(queue.Withhold(Iteration(3)), 0U);
  EXPECT_TRUE(queue.Next()->withheld);
  EXPECT_EQ(queue.Next()->bytes, 0U);
  queue.OnReconnect();
  EXPECT_EQ(queue.Withhold(Iteration(3)), 0U);
  EXPECT_FALSE(queue.front().withheld) << "it may have been taken";
}

}  // namespace
}  // namespace leeway
