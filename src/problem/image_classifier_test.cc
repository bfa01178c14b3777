#include "problem/image_classifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "problem/testing/cifar_folder.h"
#include "problem/testing/held_values.h"
#include "problem/testing/image_folder.h"

namespace leeway::problem {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

class ImageClassifierTest : public ::testing::Test {
 protected:
  Result<ProblemPtr> Make(const std::string& spec) const {
    return problems_.MakeFromSpec(spec + ",folder=" + folder_.path());
  }
  ProblemPtr Made(const std::string& spec) const {
    Result<ProblemPtr> made = Make(spec);
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    return *std::move(made);
  }
  static void Train(Problem& problem, const HeldValues& at, int steps, double rate) {
    const HeldValues gradient(problem);
    for (int step = 0; step < steps; ++step) {
      (void)problem.Gradient({1, 0, static_cast<std::uint64_t>(step)}, at.views(), gradient.tables());
      at.Add(-rate, gradient);
    }
  }

  const ImageFolder folder_{60, 30};
  const Registry<Problem> problems_ = BuiltinProblems();
};

TEST_F(ImageClassifierTest, SoftmaxHasAWeightAndABiasThatBeginWithZeros) {
  const ProblemPtr problem = Made("softmax:mnist");
  ASSERT_EQ(problem->tables().size(), 2U);
  EXPECT_EQ(problem->tables()[0].name, "weight");
  EXPECT_EQ(problem->tables()[0].shape, (std::vector<std::int64_t>{10, 784}));
  EXPECT_EQ(problem->tables()[1].name, "bias");
  EXPECT_EQ(problem->tables()[1].shape, (std::vector<std::int64_t>{10}));
  EXPECT_EQ(problem->batch(), 32U);
  const HeldValues at(*problem);
  problem->Begin(1, at.tables());
  EXPECT_THAT(at[0], Each(0.0F));
  EXPECT_THAT(at[1], Each(0.0F));
  EXPECT_DOUBLE_EQ(problem->Judge(at.views()).loss, std::log(10.0));
  EXPECT_DOUBLE_EQ(problem->Judge(at.views()).accuracy, 0.1);
}

TEST_F(ImageClassifierTest, AnMlpHasTwoLayersAndBeginsWithTheVarianceOfHe) {
  const ProblemPtr problem = Made("mlp:mnist,16,hidden=64");
  std::vector<std::string> names;
  for (const Table& table : problem->tables()) names.push_back(table.name);
  EXPECT_THAT(names, ::testing::ElementsAre("hidden.weight", "hidden.bias", "out.weight", "out.bias"));
  EXPECT_EQ(problem->tables()[0].shape, (std::vector<std::int64_t>{64, 784}));
  EXPECT_EQ(problem->tables()[2].shape, (std::vector<std::int64_t>{10, 64}));
  EXPECT_EQ(problem->batch(), 16U);

  const HeldValues at(*problem);
  const HeldValues other(*problem);
  problem->Begin(1, at.tables());
  problem->Begin(2, other.tables());
  EXPECT_FALSE(at.SameBits(other));
  problem->Begin(1, other.tables());
  EXPECT_TRUE(at.SameBits(other));
  double squares = 0;
  for (const float w : at[0]) squares += double{w} * w;
  EXPECT_NEAR(squares / static_cast<double>(at[0].size()), 2.0 / 784, 0.02 * 2.0 / 784);
  EXPECT_THAT(at[1], Each(0.0F));
}

// One coordinate after the other, the steepest of each table, where the rounding of floats matters least. The
// contract tests look along random directions, for every problem.
TEST_F(ImageClassifierTest, GradientsAreFiniteDifferencesOfTheLoss) {
  for (const char* spec : {"softmax:mnist,8", "mlp:mnist,8,hidden=20", "mlp:mnist,1,hidden=5"}) {
    const ProblemPtr problem = Made(spec);
    const HeldValues at(*problem);
    const HeldValues gradient(*problem);
    const HeldValues scratch(*problem);
    problem->Begin(5, at.tables());
    Train(*problem, at, 3, 0.01);
    (void)problem->Gradient({1, 2, 3}, at.views(), gradient.tables());
    for (std::size_t t = 0; t < gradient.tables().size(); ++t) {
      const auto steeper = [](float a, float b) { return std::abs(a) < std::abs(b); };
      const auto i =
          static_cast<std::size_t>(std::ranges::max_element(gradient[t], steeper) - gradient[t].begin());
      const float middle = at[t][i];
      constexpr float kStep = 2e-3F;
      at[t][i] = middle + kStep;
      const double above = problem->Gradient({1, 2, 3}, at.views(), scratch.tables());
      at[t][i] = middle - kStep;
      const double below = problem->Gradient({1, 2, 3}, at.views(), scratch.tables());
      at[t][i] = middle;
      EXPECT_NEAR((above - below) / (2 * kStep), gradient[t][i], 0.02 * std::abs(gradient[t][i]) + 1e-4)
          << spec << ", " << problem->tables()[t].name << " at " << i;
    }
  }
}

TEST_F(ImageClassifierTest, BothLearnWhatTheImagesShow) {
  for (const char* spec : {"softmax:mnist,16", "mlp:mnist,16,hidden=16"}) {
    const ProblemPtr problem = Made(spec);
    const HeldValues at(*problem);
    problem->Begin(1, at.tables());
    const double before = problem->Judge(at.views()).loss;
    Train(*problem, at, 150, 0.01);
    const Judgement after = problem->Judge(at.views());
    EXPECT_LT(after.loss, 0.2 * before) << spec;
    EXPECT_GT(after.accuracy, 0.95) << spec;
  }
}

TEST_F(ImageClassifierTest, ImagesOfCifarHaveThreeColors) {
  const CifarFolder cifar;
  Result<ProblemPtr> made = problems_.MakeFromSpec("softmax:data=cifar10,batch=16,folder=" + cifar.path());
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  Problem& problem = **made;
  EXPECT_EQ(problem.tables()[0].shape, (std::vector<std::int64_t>{10, 3072}));
  const HeldValues at(problem);
  problem.Begin(1, at.tables());
  Train(problem, at, 150, 0.002);
  EXPECT_GT(problem.Judge(at.views()).accuracy, 0.95);
}

TEST_F(ImageClassifierTest, EveryRankStepAndSeedDrawsItsOwnBatch) {
  const ProblemPtr problem = Made("softmax:mnist,8");
  const HeldValues at(*problem);
  const HeldValues first(*problem);
  const HeldValues other(*problem);
  problem->Begin(1, at.tables());
  (void)problem->Gradient({1, 1, 1}, at.views(), first.tables());
  for (const BatchKey key : {BatchKey{2, 1, 1}, BatchKey{1, 2, 1}, BatchKey{1, 1, 2}}) {
    (void)problem->Gradient(key, at.views(), other.tables());
    EXPECT_FALSE(other.SameBits(first));
  }
}

TEST_F(ImageClassifierTest, JudgesAsManyTestImagesAsAsked) {
  const ProblemPtr few = Made("softmax:mnist,judge=5");
  const HeldValues at(*few);
  few->Begin(1, at.tables());
  // All scores are equal, so the first class is said every time; one of the first five images is of it.
  EXPECT_DOUBLE_EQ(few->Judge(at.views()).accuracy, 0.2);
  EXPECT_THAT(Make("softmax:mnist,judge=31").status().message(),
              HasSubstr("judge: got \"31\", wanted a whole number from 1 to 30"));
}

TEST_F(ImageClassifierTest, ProblemsOfOneRegistryReadAFolderOnce) {
  const ProblemPtr first = Made("softmax:mnist");
  folder_.Remove("train-labels-idx1-ubyte");
  EXPECT_TRUE(Make("mlp:mnist").ok());
  EXPECT_FALSE(BuiltinProblems().MakeFromSpec("mlp:mnist,folder=" + folder_.path()).ok());
}

TEST_F(ImageClassifierTest, MissingDataSaysHowToGetIt) {
  const std::string mnist = problems_.MakeFromSpec("softmax:data=mnist,folder=/nowhere").status().message();
  EXPECT_THAT(mnist, AllOf(HasSubstr("problem \"softmax\": mnist: there is no train-images-idx3-ubyte and no "
                                     "train-images-idx3-ubyte.gz in the folder \"/nowhere\""),
                           HasSubstr("make data-mnist"), HasSubstr("folder=")));
  const std::string fashion = problems_.MakeFromSpec("mlp:folder=/nowhere").status().message();
  EXPECT_THAT(fashion, AllOf(HasSubstr("problem \"mlp\": fashion-mnist: "),
                             HasSubstr("apt-get install dataset-fashion-mnist")));
  const std::string cifar = problems_.MakeFromSpec("mlp:cifar10,folder=/nowhere").status().message();
  EXPECT_THAT(cifar, AllOf(HasSubstr("problem \"mlp\": cifar10: there is no test_batch.bin in the folder "
                                     "\"/nowhere\""),
                           HasSubstr("make data-cifar10"), HasSubstr("folder=")));
}

TEST_F(ImageClassifierTest, WhatDoesNotFitIntoItsBytesIsRefused) {
  const Status refused = Make("mlp:mnist,hidden=100000,batch=100000").status();
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(
      refused.message(),
      "problem \"mlp\": layers of 100000 and 10 outputs with a batch of 100000: got 80639600040 bytes of "
      "parameters and activations, wanted at most 2147483648");
  EXPECT_EQ(Make("mlp:mnist,hidden=10000,batch=100000").status().code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(Make("mlp:mnist,hidden=10000,batch=1").ok());
}

TEST_F(ImageClassifierTest, WrongArgumentsAreNamed) {
  EXPECT_THAT(
      Make("softmax:minst").status().message(),
      HasSubstr(
          "data: got \"minst\", wanted one of: fashion-mnist, mnist, cifar10 (did you mean \"mnist\"?)"));
  EXPECT_THAT(Make("softmax:mnist,hidden=3").status().message(), HasSubstr("unknown argument \"hidden\""));
  EXPECT_THAT(Make("mlp:mnist,batch=0").status().message(), HasSubstr("batch: got \"0\", wanted"));
  EXPECT_THAT(Make("mlp:mnist,hiden=3").status().message(), HasSubstr("(did you mean \"hidden\"?)"));
}

}  // namespace
}  // namespace leeway::problem
