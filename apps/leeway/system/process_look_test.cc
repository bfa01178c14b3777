#include "system/process_look.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace leeway::app {
namespace {

TEST(ProcessLookTest, AProcessHasEndedOnceItIsAZombie) {
  EXPECT_FALSE(HasProcessEnded(static_cast<std::uint64_t>(getpid())));
  EXPECT_FALSE(HasProcessEnded(0));
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(HasProcessEnded(static_cast<std::uint64_t>(child))) << "nobody has reaped it yet";
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(HasProcessEnded(static_cast<std::uint64_t>(child)));
}

}  // namespace
}  // namespace leeway::app
