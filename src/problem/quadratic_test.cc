#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "problem/problem.h"
#include "problem/testing/held_values.h"

namespace leeway::problem {
namespace {

using ::testing::HasSubstr;

ProblemPtr MadeQuadratic(const std::string& spec) {
  Result<ProblemPtr> made = BuiltinProblems().MakeFromSpec(spec);
  EXPECT_TRUE(made.ok()) << made.status().ToString();
  return *std::move(made);
}

TEST(QuadraticTest, SplitsItsDimensionsAmongItsTables) {
  const ProblemPtr problem = MadeQuadratic("quadratic:10,3");
  ASSERT_EQ(problem->tables().size(), 3U);
  EXPECT_EQ(problem->tables()[0].name, "w0");
  EXPECT_EQ(problem->tables()[0].shape, std::vector<std::int64_t>{4});
  EXPECT_EQ(problem->tables()[1].shape, std::vector<std::int64_t>{3});
  EXPECT_EQ(problem->tables()[2].shape, std::vector<std::int64_t>{3});
  EXPECT_EQ(problem->grain(), 1U);
}

TEST(QuadraticTest, DescentFindsTheOptimumWhereLossAndGradientAreZero) {
  const ProblemPtr problem = MadeQuadratic("quadratic:200,condition=10,noise=0");
  const HeldValues at(*problem);
  const HeldValues gradient(*problem);
  problem->Begin(1, at.tables());
  EXPECT_GT(problem->Judge(at.views()).loss, 1.0);
  for (std::uint64_t step = 0; step < 300; ++step) {
    const double loss = problem->Gradient({1, 0, step}, at.views(), gradient.tables());
    EXPECT_DOUBLE_EQ(loss, problem->Judge(at.views()).loss);
    at.Add(-1.0, gradient);
  }
  EXPECT_LT(problem->Judge(at.views()).loss, 1e-12);
  EXPECT_LT(gradient.Dot(gradient), 1e-12);
  EXPECT_TRUE(std::isnan(problem->Judge(at.views()).accuracy));
}

TEST(QuadraticTest, EveryTableIsAsSteepAsTheConditionSays) {
  const ProblemPtr problem = MadeQuadratic("quadratic:1000,4,100,noise=0");
  const HeldValues at(*problem);
  const HeldValues low(*problem);
  const HeldValues high(*problem);
  for (const std::span<float> table : at.tables()) std::ranges::fill(table, 0.0F);
  (void)problem->Gradient({}, at.views(), low.tables());
  for (const std::span<float> table : at.tables()) std::ranges::fill(table, 1.0F);
  (void)problem->Gradient({}, at.views(), high.tables());
  high.Add(-1.0, low);  // the second derivatives
  for (const std::span<float> table : high.tables()) {
    EXPECT_NEAR(*std::ranges::min_element(table), 0.01, 0.0003);
    EXPECT_NEAR(*std::ranges::max_element(table), 1.0, 0.03);
  }
}

TEST(QuadraticTest, NoiseHasItsDeviationAndALargerBatchHasLess) {
  for (const auto& [spec, wanted] : {std::pair{"quadratic:20000,noise=0.5", 0.5},
                                     std::pair{"quadratic:20000,noise=0.5,batch=100", 0.05}}) {
    const ProblemPtr problem = MadeQuadratic(spec);
    const ProblemPtr still = MadeQuadratic("quadratic:20000,noise=0");
    const HeldValues at(*problem);
    const HeldValues noisy(*problem);
    const HeldValues exact(*problem);
    problem->Begin(1, at.tables());
    (void)problem->Gradient({7, 1, 5}, at.views(), noisy.tables());
    (void)still->Gradient({7, 1, 5}, at.views(), exact.tables());
    noisy.Add(-1.0, exact);
    EXPECT_NEAR(std::sqrt(noisy.Dot(noisy) / 20000), wanted, wanted * 0.02) << spec;
  }
}

TEST(QuadraticTest, EveryRankStepAndSeedHasItsOwnNoise) {
  const ProblemPtr problem = MadeQuadratic("quadratic");
  const HeldValues at(*problem);
  const HeldValues first(*problem);
  const HeldValues other(*problem);
  problem->Begin(1, at.tables());
  (void)problem->Gradient({1, 1, 1}, at.views(), first.tables());
  for (const BatchKey key : {BatchKey{2, 1, 1}, BatchKey{1, 2, 1}, BatchKey{1, 1, 2}}) {
    (void)problem->Gradient(key, at.views(), other.tables());
    EXPECT_FALSE(other.SameBits(first));
  }
  (void)problem->Gradient({1, 1, 1}, at.views(), other.tables());
  EXPECT_TRUE(other.SameBits(first));
}

TEST(QuadraticTest, OneDimensionIsEnough) {
  const ProblemPtr problem = MadeQuadratic("quadratic:1");
  ASSERT_EQ(problem->tables().size(), 1U);
  const HeldValues at(*problem);
  problem->Begin(3, at.tables());
  EXPECT_TRUE(std::isfinite(problem->Judge(at.views()).loss));
}

TEST(QuadraticTest, WrongArgumentsAreNamed) {
  const Registry<Problem> problems = BuiltinProblems();
  EXPECT_THAT(problems.MakeFromSpec("quadratic:dimension=5").status().message(),
              HasSubstr("unknown argument \"dimension\"; known: dimensions, tables, condition, noise, batch "
                        "(did you mean \"dimensions\"?)"));
  EXPECT_THAT(problems.MakeFromSpec("quadratic:4,5").status().message(),
              HasSubstr("tables: got \"5\", wanted a whole number from 1 to 4"));
  EXPECT_THAT(problems.MakeFromSpec("quadratc").status().message(),
              HasSubstr("unknown problem \"quadratc\"; known: "));
}

}  // namespace
}  // namespace leeway::problem
