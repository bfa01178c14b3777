#include "block/open_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <vector>

namespace leeway {
namespace {

class OpenSumsTest : public ::testing::Test {
 protected:
  BufferRef Of(const std::vector<float>& values) {
    BufferRef buffer = pool_.Take(values.size());
    std::ranges::copy(values, buffer->floats().begin());
    return buffer;
  }
  static PushEvent From(std::uint32_t worker, std::uint32_t samples) {
    return {.from = {WorkerId(worker), Incarnation(1)}, .seq = Seq(1), .samples = samples};
  }
  static void Add(OpenSums& sums, Iteration iteration, const PushEvent& push, BufferRef gradient) {
    EXPECT_EQ(sums.Add(iteration, push, std::move(gradient), false), Values::Outcome::kPublished);
  }
  static std::vector<float> Floats(const BufferRef& buffer) {
    return {buffer->floats().begin(), buffer->floats().end()};
  }

  BufferPool pool_{1U << 20};
};

TEST_F(OpenSumsTest, IterationsAreKeptApart) {
  OpenSums sums(false, pool_);
  EXPECT_EQ(sums.First(), std::nullopt);
  Add(sums, Iteration(4), From(0, 1), Of({1, 2}));
  Add(sums, Iteration(3), From(1, 1), Of({10, 20}));
  EXPECT_EQ(sums.First(), Iteration(3));
  EXPECT_FALSE(sums.Close(Iteration(2)).has_value());
  EXPECT_EQ(Floats(sums.Close(Iteration(3))->sum), (std::vector<float>{10, 20}));
  EXPECT_EQ(Floats(sums.Close(Iteration(4))->sum), (std::vector<float>{1, 2}));
  EXPECT_FALSE(sums.Close(Iteration(4)).has_value()) << "a sum is taken once";
}

TEST_F(OpenSumsTest, TheSumIsWeightedBySamples) {
  for (const bool ordered : {false, true}) {
    OpenSums sums(ordered, pool_);
    Add(sums, Iteration(0), From(1, 3), Of({1, 2}));
    Add(sums, Iteration(0), From(0, 5), Of({10, 0}));
    Add(sums, Iteration(1), From(0, 4), Of({1, 2}));
    const auto both = sums.Close(Iteration(0));
    EXPECT_EQ(Floats(both->sum), (std::vector<float>{53, 6}));
    EXPECT_EQ(both->mean_scale, 0.125F);
    EXPECT_EQ(both->contributors, 2U);
    const auto lone = sums.Close(Iteration(1));
    EXPECT_EQ(Floats(lone->sum), (std::vector<float>{4, 8})) << "weighted alike when alone";
    EXPECT_EQ(lone->mean_scale, 0.25F);
  }
}

TEST_F(OpenSumsTest, AnOrderedSumHasTheBitsOfAddingInTheOrderOfRanks) {
  // 1 is lost beside 2^24 unless the two large ones are added first.
  const std::vector<float> large{16777216.0F, 3.0F}, minus{-16777216.0F, 0.1F}, one{1.0F, 0.7F};
  OpenSums sums(/*ordered=*/true, pool_);
  Add(sums, Iteration(0), From(2, 1), Of(one));
  Add(sums, Iteration(0), From(1, 1), Of(minus));
  Add(sums, Iteration(0), From(0, 1), Of(large));
  EXPECT_EQ(Floats(sums.Close(Iteration(0))->sum), (std::vector<float>{1.0F, (3.0F + 0.1F) + 0.7F}));
  Add(sums, Iteration(1), From(2, 1), Of(minus));
  Add(sums, Iteration(1), From(1, 1), Of(one));
  Add(sums, Iteration(1), From(0, 1), Of(large));
  EXPECT_EQ(Floats(sums.Close(Iteration(1))->sum), (std::vector<float>{0.0F, (3.0F + 0.7F) + 0.1F}));
}

TEST_F(OpenSumsTest, AGradientThatSomeoneElseHoldsIsNotWrittenTo) {
  for (const bool ordered : {false, true}) {
    for (const std::uint32_t samples : {1U, 2U}) {
      OpenSums sums(ordered, pool_);
      const BufferRef first = Of({1, 2}), second = Of({3, 4}), third = Of({5, 6});
      Add(sums, Iteration(0), From(0, samples), first);
      Add(sums, Iteration(0), From(1, samples), second);
      Add(sums, Iteration(0), From(2, samples), third);
      Add(sums, Iteration(1), From(0, samples), first);
      const float s = static_cast<float>(samples);
      EXPECT_EQ(Floats(sums.Close(Iteration(0))->sum), (std::vector<float>{9 * s, 12 * s}));
      EXPECT_EQ(Floats(sums.Close(Iteration(1))->sum), (std::vector<float>{1 * s, 2 * s}));
      EXPECT_EQ(Floats(first), (std::vector<float>{1, 2}));
      EXPECT_EQ(Floats(second), (std::vector<float>{3, 4}));
      EXPECT_EQ(Floats(third), (std::vector<float>{5, 6}));
    }
  }
}

TEST_F(OpenSumsTest, AGradientThatIsOursBecomesTheSumWithoutACopy) {
  OpenSums sums(false, pool_);
  BufferRef first = Of({1, 2});
  const float* const place = first->floats().data();
  Add(sums, Iteration(0), From(0, 2), std::move(first));
  const auto closed = sums.Close(Iteration(0));
  EXPECT_EQ(closed->sum->floats().data(), place);
  EXPECT_EQ(Floats(closed->sum), (std::vector<float>{2, 4}));
}

TEST_F(OpenSumsTest, WhatIsLentIsReadAtOnceAndCopied) {
  for (const bool ordered : {false, true}) {
    OpenSums sums(ordered, pool_);
    std::vector<float> lent = {1, 2};
    for (std::uint32_t worker = 0; worker < 3; ++worker) {
      EXPECT_EQ(sums.Add(Iteration(0), From(worker, 2), Gradient(lent, {}), false),
                Values::Outcome::kPublished);
      lent[0] += 10;  // its owner goes on with it
    }
    EXPECT_EQ(Floats(sums.Close(Iteration(0))->sum), (std::vector<float>{66, 12}));
  }
}

TEST_F(OpenSumsTest, WhatIsNotFiniteOrNotWholeChangesNothing) {
  std::atomic<std::uint64_t> word{1};
  const std::vector<float> good = {1, 2};
  const std::vector<float> bad = {1, std::numeric_limits<float>::infinity()};
  for (const bool ordered : {false, true}) {
    OpenSums sums(ordered, pool_);
    for (std::uint32_t worker = 0; worker < 2; ++worker) {  // as the first, and beside another
      EXPECT_EQ(sums.Add(Iteration(0), From(9, 1), Gradient(bad, {}), false), Values::Outcome::kNonFinite);
      EXPECT_EQ(sums.Add(Iteration(0), From(9, 1), Of(bad), false), Values::Outcome::kNonFinite);
      EXPECT_EQ(sums.Add(Iteration(0), From(9, 1), Gradient(good, {&word, 2}), false),
                Values::Outcome::kTorn);
      EXPECT_EQ(sums.First().has_value(), worker > 0);
      EXPECT_EQ(sums.Add(Iteration(0), From(worker, 1), Gradient(good, {&word, 1}), false),
                Values::Outcome::kPublished);
    }
    const auto closed = sums.Close(Iteration(0));
    EXPECT_EQ(closed->contributors, 2U);
    EXPECT_EQ(Floats(closed->sum), (std::vector<float>{2, 4}));
    EXPECT_EQ(sums.Add(Iteration(1), From(9, 1), Gradient(bad, {}), true), Values::Outcome::kPublished);
  }
}

}  // namespace
}  // namespace leeway
