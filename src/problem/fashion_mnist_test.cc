// The image problems on the real Fashion-MNIST, Debian's dataset-fashion-mnist.
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>

#include "problem/problem.h"
#include "problem/testing/held_values.h"

namespace leeway::problem {
namespace {

Judgement TrainedOnFashion(const std::string& spec, int steps, double rate) {
  Result<ProblemPtr> made = BuiltinProblems().MakeFromSpec(spec);
  if (!made.ok()) {
    ADD_FAILURE() << made.status().ToString();
    return {};
  }
  Problem& problem = **made;
  const HeldValues at(problem);
  const HeldValues gradient(problem);
  problem.Begin(1, at.tables());
  for (int step = 0; step < steps; ++step) {
    (void)problem.Gradient({1, 0, static_cast<std::uint64_t>(step)}, at.views(), gradient.tables());
    at.Add(-rate, gradient);
  }
  return problem.Judge(at.views());
}

TEST(FashionMnistTest, SoftmaxLearnsThreeQuartersInAFewHundredSteps) {
  const Judgement judged = TrainedOnFashion("softmax", 300, 0.02);
  EXPECT_GT(judged.accuracy, 0.75);
  EXPECT_LT(judged.loss, 0.75);
}

TEST(FashionMnistTest, AnMlpLearnsMore) {
  const Judgement judged = TrainedOnFashion("mlp", 600, 0.05);
  EXPECT_GT(judged.accuracy, 0.80);
  EXPECT_LT(judged.loss, 0.60);
}

TEST(FashionMnistTest, GradientsStayOnOneThread) {
  (void)TrainedOnFashion("mlp:hidden=512,batch=256,judge=100", 2, 0.01);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}), 1);
}

}  // namespace
}  // namespace leeway::problem
