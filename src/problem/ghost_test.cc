#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/testing/temp_folder.h"
#include "problem/layer_file.h"
#include "problem/problem.h"
#include "problem/testing/held_values.h"

namespace leeway::problem {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

ProblemPtr MadeGhost(const std::string& spec) {
  Result<ProblemPtr> made = BuiltinProblems().MakeFromSpec(spec);
  EXPECT_TRUE(made.ok()) << made.status().ToString();
  return *std::move(made);
}

std::int64_t ElementsOf(const Problem& problem) {
  std::int64_t sum = 0;
  for (const Table& table : problem.tables()) {
    EXPECT_EQ(table.shape.size(), 1U);
    sum += table.shape[0];
  }
  return sum;
}

TEST(GhostTest, EveryModelCanBeNamed) {
  for (const ModelFile& file : ModelFiles()) {
    const ProblemPtr problem = MadeGhost("ghost:" + std::string(file.name) + ",grain=1");
    EXPECT_EQ(problem->tables().size(), ParseLayers(file.name, file.text)->size()) << file.name;
  }
}

TEST(GhostTest, OneElementStandsForAGrain) {
  const ProblemPtr problem = MadeGhost("ghost:model=vgg16");
  EXPECT_EQ(problem->grain(), 1024U);
  EXPECT_EQ(problem->tables()[0].name, "conv1_1.weight");
  EXPECT_EQ(problem->tables()[0].shape, std::vector<std::int64_t>{2});  // 1,728 elements
  EXPECT_EQ(problem->tables()[1].shape, std::vector<std::int64_t>{1});  // 64 elements
  EXPECT_NEAR(static_cast<double>(ElementsOf(*problem)), 138'357'544 / 1024.0, 32);
}

TEST(GhostTest, GradientsAreSmallAndLossesNoNumbers) {
  const ProblemPtr problem = MadeGhost("ghost:resnet56,100,batch=128");
  EXPECT_EQ(problem->batch(), 128U);
  const HeldValues at(*problem);
  const HeldValues gradient(*problem);
  problem->Begin(1, at.tables());
  EXPECT_TRUE(std::isnan(problem->Gradient({1, 0, 0}, at.views(), gradient.tables())));
  for (const std::span<float> table : at.tables()) EXPECT_THAT(table, Each(0.0F));
  for (const std::span<float> table : gradient.tables()) EXPECT_THAT(table, Each(1e-3F));
  EXPECT_TRUE(std::isnan(problem->Judge(at.views()).loss));
  EXPECT_TRUE(std::isnan(problem->Judge(at.views()).accuracy));
}

TEST(GhostTest, AFileOfOnesOwnIsAModel) {
  const leeway::testing::TempFolder folder;
  const std::string path = folder.PathOf("mine.layers");
  std::ofstream(path) << "# mine\nfirst 1000x3\nsecond 7\n";
  const ProblemPtr problem = MadeGhost("ghost:" + path + ",grain=1000");
  ASSERT_EQ(problem->tables().size(), 2U);
  EXPECT_EQ(problem->tables()[0].shape, std::vector<std::int64_t>{3});
  EXPECT_EQ(problem->tables()[1].shape, std::vector<std::int64_t>{1});
}

TEST(GhostTest, AModelThatDoesNotFitIntoItsBytesIsRefused) {
  const leeway::testing::TempFolder folder;
  const std::string path = folder.PathOf("large.layers");
  std::ofstream(path) << "first 1048576x1048576\nsecond 7\n";
  const Registry<Problem> problems = BuiltinProblems();
  const Status refused = problems.MakeFromSpec("ghost:" + path + ",grain=1024").status();
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(
      refused.message(),
      AllOf(HasSubstr("problem \"ghost\": grain: got 1024, with which the model has 4294967300 bytes"),
            HasSubstr("at most 2147483648")));
  EXPECT_TRUE(problems.MakeFromSpec("ghost:" + path + ",grain=4096").ok());
}

TEST(GhostTest, WrongArgumentsAreNamed) {
  const Registry<Problem> problems = BuiltinProblems();
  EXPECT_THAT(
      problems.MakeFromSpec("ghost:resnet5").status().message(),
      AllOf(HasSubstr("problem \"ghost\": model: got \"resnet5\", wanted one of: alexnet, densenet121, "),
            HasSubstr("ends in .layers"), HasSubstr("(did you mean \"resnet5")));
  EXPECT_THAT(problems.MakeFromSpec("ghost").status().message(),
              HasSubstr("model: got nothing, wanted the name of a model"));
  EXPECT_THAT(problems.MakeFromSpec("ghost:model=none.layers").status().message(),
              HasSubstr("cannot read layers \"none.layers\": No such file"));
  EXPECT_THAT(problems.MakeFromSpec("ghost:vgg16,grain=0").status().message(), HasSubstr("grain: got \"0\""));
}

}  // namespace
}  // namespace leeway::problem
