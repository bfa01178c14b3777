#include "launch/text_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

namespace leeway::app {
namespace {

TEST(TextFileTest, AFailedWriteLeavesNothingBehind) {
  std::string folder = ::testing::TempDir() + "/leeway-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  // A limit on the size of files stands for a full disk.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{16, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  const Status written = WriteTextFile(folder + "/file", std::string(100, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);

  EXPECT_FALSE(written.ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_TRUE(WriteTextFile(folder + "/file", "whole").ok());
  EXPECT_EQ(*ReadTextFile(folder + "/file"), "whole");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace leeway::app
