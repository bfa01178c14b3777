#include "system/child_process.h"

#include <gtest/gtest.h>

#include <thread>

namespace leeway::app {
namespace {

std::string EndOf(const std::string& script) {
  ChildCommand command;
  command.program = "/bin/sh";
  command.args = {"sh", "-c", script};
  sigemptyset(&command.signal_mask);
  Result<ChildProcess> child = ChildProcess::Spawn(command);
  if (!child.ok()) return child.status().ToString();
  while (!child->HasEnded()) std::this_thread::yield();
  return DescribeEnd(child->Reap());
}

// Leeway's own exit codes go beyond 128 too (docs/cli.md).
TEST(ChildProcessTest, OnlyASignalIsDescribedAsOne) {
  EXPECT_EQ(EndOf("exit 3"), "exit code 3");
  EXPECT_EQ(EndOf("exit 129"), "exit code 129");
  EXPECT_EQ(EndOf("kill -9 $$"), "exit code 137 (signal 9, Killed)");
}

TEST(ChildProcessTest, WhatThisProcessIgnoresItsChildIgnores) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  EXPECT_EQ(EndOf("kill -HUP $$; exit 5"), "exit code 5");
  std::signal(SIGHUP, before);
}

}  // namespace
}  // namespace leeway::app
