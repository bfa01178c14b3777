// The contract of every problem, run over every row of src/problem/builtin.def. A row joins by an example
// spec here; a row without one fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "problem/problem.h"
#include "problem/testing/cifar_folder.h"
#include "problem/testing/held_values.h"
#include "problem/testing/image_folder.h"

namespace leeway::problem {
namespace {

// FOLDER and CIFAR stand for folders with small images.
std::map<std::string, std::vector<std::string>> ProblemExamples() {
  return {
      {"ghost", {"ghost:resnet56", "ghost:model=alexnet,grain=1000000,batch=1"}},
      {"mlp",
       {"mlp:mnist,folder=FOLDER", "mlp:fashion-mnist,5,hidden=7,judge=3,folder=FOLDER",
        "mlp:cifar10,3,hidden=5,folder=CIFAR"}},
      {"quadratic", {"quadratic", "quadratic:50,7,condition=1000,noise=0", "quadratic:1,batch=8"}},
      {"softmax", {"softmax:mnist,folder=FOLDER", "softmax:fashion-mnist,1,folder=FOLDER"}},
  };
}

std::vector<std::string> AllProblemSpecs() {
  std::vector<std::string> all;
  for (const auto& [name, specs] : ProblemExamples()) all.insert(all.end(), specs.begin(), specs.end());
  return all;
}

TEST(ProblemExamplesTest, EveryRowHasOne) {
  std::set<std::string> examples;
  for (const auto& [name, specs] : ProblemExamples()) examples.insert(name);
  const std::vector<std::string> rows = BuiltinProblems().names();
  EXPECT_EQ(examples, std::set<std::string>(rows.begin(), rows.end()));
}

class ProblemContract : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] ProblemPtr Made() const {
    std::string spec = GetParam();
    if (const std::size_t at = spec.find("FOLDER"); at != std::string::npos)
      spec.replace(at, 6, folder_.path());
    if (const std::size_t at = spec.find("CIFAR"); at != std::string::npos)
      spec.replace(at, 5, cifar_.path());
    Result<ProblemPtr> made = problems_.MakeFromSpec(spec);
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    return *std::move(made);
  }
  static void ExpectFinite(const HeldValues& values) {
    for (const std::span<float> table : values.tables()) {
      EXPECT_TRUE(std::ranges::all_of(table, [](float value) { return std::isfinite(value); }));
    }
  }

  const ImageFolder folder_;
  const CifarFolder cifar_;
  const Registry<Problem> problems_ = BuiltinProblems();
};

TEST_P(ProblemContract, TablesHaveNamesOfTheirOwnAndElements) {
  const ProblemPtr problem = Made();
  std::set<std::string> names;
  for (const Table& table : problem->tables()) {
    EXPECT_FALSE(table.name.empty());
    EXPECT_TRUE(names.insert(table.name).second) << table.name;
    EXPECT_FALSE(table.shape.empty());
    for (const std::int64_t extent : table.shape) EXPECT_GE(extent, 1);
  }
  EXPECT_FALSE(names.empty());
  EXPECT_GE(problem->batch(), 1U);
  EXPECT_GE(problem->grain(), 1U);
}

TEST_P(ProblemContract, EveryValueAndEveryGradientIsWritten) {
  const ProblemPtr problem = Made();
  const HeldValues at(*problem);
  const HeldValues gradient(*problem);
  problem->Begin(1, at.tables());
  ExpectFinite(at);
  (void)problem->Gradient({1, 0, 0}, at.views(), gradient.tables());
  ExpectFinite(gradient);
}

// Not on what was asked before, not on the instance, not on where the values lie.
TEST_P(ProblemContract, AGradientDependsOnItsArgumentsAlone) {
  const ProblemPtr first = Made();
  const ProblemPtr second = Made();
  const HeldValues at(*first);
  const HeldValues gradient(*first);
  first->Begin(7, at.tables());
  const double loss = first->Gradient({1, 2, 3}, at.views(), gradient.tables());
  for (const std::size_t offset : {1, 3, 4}) {
    const HeldValues moved(*second, offset);
    const HeldValues again(*second, offset);
    second->Begin(7, moved.tables());
    ASSERT_TRUE(moved.SameBits(at));
    (void)second->Gradient({1, 2, 4}, moved.views(), again.tables());
    (void)second->Judge(moved.views());
    const double loss_again = second->Gradient({1, 2, 3}, moved.views(), again.tables());
    EXPECT_EQ(std::memcmp(&loss, &loss_again, sizeof loss), 0);
    EXPECT_TRUE(again.SameBits(gradient));
    EXPECT_TRUE(moved.SameBits(at));
  }
}

TEST_P(ProblemContract, AFixedGradientIsThatOfEveryBatch) {
  const ProblemPtr problem = Made();
  const Values fixed = problem->FixedGradient();
  if (fixed.empty()) return;
  const HeldValues at(*problem);
  const HeldValues gradient(*problem);
  for (const std::uint64_t seed : {7U, 8U}) {
    problem->Begin(seed, at.tables());
    for (const BatchKey batch : {BatchKey{1, 2, 3}, BatchKey{2, 0, 9}}) {
      (void)problem->Gradient(batch, at.views(), gradient.tables());
      ASSERT_EQ(fixed.size(), gradient.tables().size());
      for (std::size_t t = 0; t < fixed.size(); ++t)
        EXPECT_TRUE(std::ranges::equal(fixed[t], gradient[t])) << t;
    }
  }
}

TEST_P(ProblemContract, AJudgementDependsOnTheParametersAlone) {
  const ProblemPtr problem = Made();
  const HeldValues at(*problem);
  const HeldValues gradient(*problem);
  problem->Begin(7, at.tables());
  const Judgement first = problem->Judge(at.views());
  (void)problem->Gradient({1, 2, 3}, at.views(), gradient.tables());
  const Judgement second = problem->Judge(at.views());
  EXPECT_EQ(std::memcmp(&first.loss, &second.loss, sizeof first.loss), 0);
  EXPECT_EQ(std::memcmp(&first.accuracy, &second.accuracy, sizeof first.accuracy), 0);
  if (std::isfinite(first.accuracy)) {
    EXPECT_GE(first.accuracy, 0.0);
    EXPECT_LE(first.accuracy, 1.0);
  }
}

// Along random directions, where the loss is a number: the slope is what the gradient says.
TEST_P(ProblemContract, TheGradientIsThatOfTheLoss) {
  const ProblemPtr problem = Made();
  const HeldValues begin(*problem);
  const HeldValues gradient(*problem);
  const HeldValues scratch(*problem);
  problem->Begin(3, begin.tables());
  if (std::isnan(problem->Gradient({1, 2, 3}, begin.views(), gradient.tables()))) return;
  const double norm = std::sqrt(gradient.Dot(gradient));
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    // Half random, half along the gradient, so that the slope stands out of the rounding.
    const HeldValues direction(*problem);
    for (std::size_t t = 0; t < direction.tables().size(); ++t) {
      for (std::size_t i = 0; i < direction[t].size(); ++i) {
        direction[t][i] = static_cast<float>(UnitInterval(Hash64({seed, t, i})) - 0.5);
      }
    }
    const double length = std::sqrt(direction.Dot(direction));
    for (const std::span<float> table : direction.tables()) {
      for (float& value : table) value = static_cast<float>(value / length);
    }
    direction.Add(1.0 / norm, gradient);
    constexpr double kStep = 2e-3;
    const HeldValues at(*problem);
    at.CopyFrom(begin);
    at.Add(kStep, direction);
    const double above = problem->Gradient({1, 2, 3}, at.views(), scratch.tables());
    at.CopyFrom(begin);
    at.Add(-kStep, direction);
    const double below = problem->Gradient({1, 2, 3}, at.views(), scratch.tables());
    const double slope = gradient.Dot(direction);
    EXPECT_NEAR((above - below) / (2 * kStep), slope, 0.02 * std::abs(slope) + 1e-3);
  }
}

TEST_P(ProblemContract, InstancesOnSeveralThreadsDoNotDisturbEachOther) {
  const ProblemPtr alone = Made();
  const HeldValues at(*alone);
  const HeldValues wanted(*alone);
  alone->Begin(1, at.tables());
  (void)alone->Gradient({1, 0, 99}, at.views(), wanted.tables());
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      const ProblemPtr own = Made();
      const HeldValues gradient(*own);
      for (std::uint64_t step = 0; step < 100; ++step) {
        (void)own->Gradient({1, 0, step}, at.views(), gradient.tables());
      }
      EXPECT_TRUE(gradient.SameBits(wanted));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Rows, ProblemContract, ::testing::ValuesIn(AllProblemSpecs()), [](const auto& row) {
  std::string name = std::to_string(row.index) + "_" + row.param;
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace leeway::problem
