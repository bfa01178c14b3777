#include "process/secret_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "base/testing/temp_folder.h"

namespace leeway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SecretFileTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string Write(const std::string& text, mode_t mode) {
    const std::string path = folder_.path() + "/secret";
    std::ofstream(path) << text;
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }
  testing::TempFolder folder_;
};

TEST_F(SecretFileTest, ANewFileIsForThisUserAloneAndHoldsANewSecret) {
  const std::string path = folder_.path() + "/secret";
  const Result<std::string> made = MakeSecretFile(path);
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  EXPECT_EQ(made->size(), 64U);
  EXPECT_NE(*made, *NewSecret());
  struct stat about {};
  ASSERT_EQ(stat(path.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777U, 0600U);
  EXPECT_EQ(*ReadSecretFile(path), *made);
  EXPECT_EQ(MakeSecretFile(path).status().code(), StatusCode::kAlreadyExists) << "it is opened exclusively";
  EXPECT_EQ(*ReadSecretFile(path), *made);
}

TEST_F(SecretFileTest, TheEndOfTheLineIsNoPartOfIt) {
  const std::string text = "EfO5IkjTSXh4T6bxkwMDBX0RIqfT2JuLNfdyQqGqHnQ=";
  EXPECT_EQ(*ReadSecretFile(Write(text + "\r\n", 0600)), text);
  EXPECT_EQ(*ReadSecretFile(Write(text, 0400)), text);
}

TEST_F(SecretFileTest, AFileThatOthersMayReadIsRefusedWithTheFix) {
  for (const mode_t mode : {0644, 0640, 0604, 0660}) {
    const std::string path = Write(std::string(40, 'x'), mode);
    const Status refused = ReadSecretFile(path).status();
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(refused.message(), HasSubstr("chmod 600 " + path));
  }
}

TEST_F(SecretFileTest, AFileOfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const std::string path = Write(std::string(40, 'x'), 0600);
  ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
  EXPECT_THAT(ReadSecretFile(path).status().message(), HasSubstr("belongs to user 65534"));
}

TEST_F(SecretFileTest, WhatIsTooShortTooLongMissingOrNoFileIsRefused) {
  EXPECT_THAT(ReadSecretFile(Write("hunter2\n", 0600)).status().message(),
              HasSubstr("has 7 bytes, wanted 32"));
  EXPECT_THAT(ReadSecretFile(Write(std::string(40, '\n'), 0600)).status().message(),
              HasSubstr("has 0 bytes, wanted 32"))
      << "an empty secret would be none";
  EXPECT_THAT(ReadSecretFile(Write(std::string(5000, 'x'), 0600)).status().message(),
              HasSubstr("more than 4096"));
  EXPECT_EQ(ReadSecretFile(folder_.path() + "/none").status().code(), StatusCode::kNotFound);
  EXPECT_THAT(ReadSecretFile(folder_.path()).status().message(), HasSubstr("is no file"));
}

TEST_F(SecretFileTest, OneOfThreeSourcesIsWanted) {
  const std::string path = Write(std::string(40, 'x'), 0600);
  for (const SecretTaker taker : {SecretTaker::kCommand, SecretTaker::kScript}) {
    EXPECT_EQ(*TakeSecret({.given = "abc"}, taker), "abc");
    EXPECT_EQ(*TakeSecret({.file = path}, taker), std::string(40, 'x'));
    EXPECT_EQ(*TakeSecret({.insecure = true}, taker), "");
    const Status both = TakeSecret({.file = path, .insecure = true}, taker).status();
    EXPECT_THAT(both.message(), HasSubstr("LEEWAY_INSECURE=1"));
    EXPECT_EQ(both.message().find("--insecure") == std::string::npos, taker == SecretTaker::kScript);
  }
  const Status command = TakeSecret({}, SecretTaker::kCommand).status();
  for (const char* words :
       {"--secret-file", "LEEWAY_SECRET_FILE", "--insecure", "LEEWAY_INSECURE=1", "/dev/urandom"})
    EXPECT_THAT(command.message(), HasSubstr(words));
}

TEST_F(SecretFileTest, AScriptIsToldWhatAScriptHas) {
  const Status script = TakeSecret({}, SecretTaker::kScript).status();
  for (const char* words : {"LEEWAY_SECRET_FILE=FILE", "secret_file of init()", "LEEWAY_INSECURE=1"})
    EXPECT_THAT(script.message(), HasSubstr(words));
  EXPECT_THAT(script.message(), Not(HasSubstr("--")));
}

}  // namespace
}  // namespace leeway
