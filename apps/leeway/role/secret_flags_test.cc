#include "role/secret_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/temp_folder.h"
#include "process/secret_file.h"

namespace leeway::app {
namespace {

using ::testing::HasSubstr;

class SecretFlagsTest : public ::testing::Test {
 protected:
  // The secret that a command takes with this environment and these flags.
  static Result<std::string> Take(const Environment& environment, const std::string& file,
                                  bool insecure = false) {
    SecretFlags secret(environment);
    FlagSet flags;
    secret.Declare(flags);
    if (!file.empty()) {
      EXPECT_TRUE(flags.Find("--secret-file")->take(file).ok());
    }
    if (insecure) {
      EXPECT_TRUE(flags.Find("--insecure")->take("true").ok());
    }
    return secret.Take();
  }
  leeway::testing::TempFolder folder_;
};

TEST_F(SecretFlagsTest, FlagsWinOverTheEnvironment) {
  const std::string mine = *MakeSecretFile(folder_.PathOf("mine")),
                    other = *MakeSecretFile(folder_.PathOf("other"));
  Environment environment;
  environment.Set(kSecretFileVariable, folder_.PathOf("other"));
  EXPECT_EQ(*Take(environment, ""), other);
  EXPECT_EQ(*Take(environment, folder_.PathOf("mine")), mine);
  EXPECT_EQ(*Take(environment, "", true), "");
  Environment insecure;
  insecure.Set(kInsecureVariable, "1");
  EXPECT_EQ(*Take(insecure, ""), "");
  EXPECT_EQ(*Take(insecure, folder_.PathOf("mine")), mine);
}

TEST_F(SecretFlagsTest, NeitherAndBothAreErrors) {
  EXPECT_THAT(Take({}, "").status().message(), HasSubstr("--secret-file FILE or LEEWAY_SECRET_FILE=FILE"));
  Environment no_yes;
  no_yes.Set(kInsecureVariable, "yes");
  EXPECT_FALSE(Take(no_yes, "").ok()) << "1 alone says it";
  EXPECT_THAT(Take({}, folder_.PathOf("mine"), true).status().message(), HasSubstr("wanted one of them"));
}

}  // namespace
}  // namespace leeway::app
