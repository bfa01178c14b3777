#include "system/exec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsNull;
using ::testing::StrEq;

TEST(ExecTest, PointersAreOfTheStringsThemselvesWithANullAtTheEnd) {
  const std::vector<std::string> words = {"leeway", "", "run"};
  const std::vector<char*> pointers = ExecPointers(words);
  EXPECT_THAT(pointers, ElementsAre(StrEq("leeway"), StrEq(""), StrEq("run"), IsNull()));
  EXPECT_EQ(pointers[2], words[2].data());
}

TEST(ExecTest, AProgramThatIsNotThereGivesTheExitCodeOfAShell) {
  Program program;
  program.executable = "/no/such/leeway";
  EXPECT_EQ(Become(program, {"run"}), 127);
}

}  // namespace
}  // namespace leeway::app
