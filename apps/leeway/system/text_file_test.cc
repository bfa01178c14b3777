#include "system/text_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "base/testing/temp_folder.h"

namespace leeway::app {
namespace {

using ::testing::HasSubstr;

TEST(TextFileTest, AFailedWriteLeavesNothingBehind) {
  const leeway::testing::TempFolder temporary;
  const std::string& folder = temporary.path();
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
}

TEST(TextFileTest, ALinkStaysAndWhatItLeadsToIsReplaced) {
  const leeway::testing::TempFolder folder;
  std::filesystem::create_symlink(folder.PathOf("file"), folder.PathOf("link"));
  EXPECT_TRUE(WriteTextFile(folder.PathOf("file"), "old").ok());
  EXPECT_TRUE(WriteTextFile(folder.PathOf("link"), "new").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder.PathOf("link")));
  EXPECT_EQ(*ReadTextFile(folder.PathOf("file")), "new");
}

TEST(TextFileTest, ALinkToWhatIsNotThereYetLeadsToIt) {
  const leeway::testing::TempFolder folder;
  std::filesystem::create_symlink(folder.PathOf("file"), folder.PathOf("link"));
  EXPECT_TRUE(WriteTextFile(folder.PathOf("link"), "new").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder.PathOf("link")));
  EXPECT_EQ(*ReadTextFile(folder.PathOf("file")), "new");
}

TEST(TextFileTest, WhatIsThisProcessesOutputGetsTheTextBehindWhatWasPrinted) {
  const leeway::testing::TempFolder folder;
  const std::string path = folder.PathOf("out");
  const int before = dup(STDOUT_FILENO), file = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  std::fflush(stdout);
  dup2(file, STDOUT_FILENO);
  std::printf("printed\n");
  const Status written = WriteTextFile("/proc/self/fd/1", "written\n");
  std::printf("more\n");
  std::fflush(stdout);
  dup2(before, STDOUT_FILENO);
  for (const int fd : {before, file}) close(fd);
  EXPECT_TRUE(written.ok()) << written.ToString();
  EXPECT_EQ(*ReadTextFile(path), "printed\nwritten\nmore\n");
}

TEST(TextFileTest, WhatCannotBeWrittenIsSaidBefore) {
  const leeway::testing::TempFolder folder;
  EXPECT_TRUE(CheckTextFile(folder.PathOf("file")).ok());
  EXPECT_TRUE(CheckTextFile("file").ok());
  EXPECT_THAT(CheckTextFile(folder.path()).message(), HasSubstr("a folder; wanted a file"));
  EXPECT_THAT(CheckTextFile(folder.PathOf("none/file")).message(), HasSubstr("there is no folder"));
  EXPECT_FALSE(CheckTextFile(folder.PathOf(std::string(300, 'a') + "/x")).ok());
}

TEST(TextFileTest, WhatIsNoFileIsWrittenToAndNotReplaced) {
  const leeway::testing::TempFolder folder;
  const std::string pipe = folder.PathOf("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  EXPECT_TRUE(WriteTextFile(pipe, "hello").ok());
  std::array<char, 16> got{};
  EXPECT_EQ(read(reader, got.data(), got.size()), 5);
  close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_TRUE(CheckTextFile(pipe).ok());
  EXPECT_FALSE(WriteTextFile(folder.path(), "hello").ok());
  EXPECT_TRUE(std::filesystem::is_directory(folder.path()));
}

}  // namespace
}  // namespace leeway::app
