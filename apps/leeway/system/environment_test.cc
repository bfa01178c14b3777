#include "system/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(EnvironmentTest, ANameIsNotTakenForItsPrefix) {
  const char* envp[] = {"PATHS=x", "PATH=/bin", nullptr};
  const Environment environment(envp);
  EXPECT_EQ(environment.Get("PATH"), "/bin");
  EXPECT_EQ(environment.Get("PAT"), std::nullopt);
}

TEST(EnvironmentTest, SettingReplacesAndUnlessSetDoesNot) {
  Environment environment;
  environment.Set("A", "1");
  environment.Set("A", "2");
  environment.SetUnlessSet("A", "3");
  environment.SetUnlessSet("B", "4");
  EXPECT_THAT(environment.entries(), ElementsAre("A=2", "B=4"));
}

TEST(EnvironmentTest, RemovingGoesByPrefix) {
  Environment environment;
  environment.Set("LEEWAY_RANK", "3");
  environment.Set("LEEWAY_SIZE", "4");
  environment.Set("HOME", "/");
  environment.RemoveAll("LEEWAY_");
  EXPECT_THAT(environment.entries(), ElementsAre("HOME=/"));
}

TEST(EnvironmentTest, ProgramsAreFoundInPathOrAreNamed) {
  Environment environment;
  environment.Set("PATH", "/nowhere:/bin:/usr/bin");
  EXPECT_EQ(*environment.FindProgram("sh"), "/bin/sh");
  EXPECT_EQ(*environment.FindProgram("/bin/sh"), "/bin/sh");
  EXPECT_THAT(environment.FindProgram("no-such-program").status().message(), HasSubstr("not found in PATH"));
  EXPECT_THAT(environment.FindProgram("/no/such").status().message(), HasSubstr("no such file"));
  EXPECT_THAT(environment.FindProgram("/etc/passwd").status().message(), HasSubstr("not an executable file"));
  EXPECT_EQ(environment.FindProgram("/no/such").status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace leeway::app
