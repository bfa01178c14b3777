#include "command/ctl_scheduler.h"

#include <gtest/gtest.h>

#include <chrono>

namespace leeway::app {
namespace {

TEST(CtlSchedulerTest, TheClientGivesUpBeforeTheCommandDoes) {
  Program program;
  program.environment.Set("LEEWAY_SCHEDULER", "127.0.0.1:1");
  program.environment.Set("LEEWAY_INSECURE", "1");
  for (const std::chrono::milliseconds limit :
       {std::chrono::milliseconds(100), std::chrono::milliseconds(10'000),
        std::chrono::milliseconds(120'000)}) {
    CtlScheduler scheduler(program);
    FlagSet flags;
    scheduler.Declare(flags, limit);
    const Result<MonitorOptions> options = scheduler.Options();
    ASSERT_TRUE(options.ok()) << options.status().message();
    EXPECT_LT(options->give_up_after, limit) << "the reason of a failed connect would be lost";
  }
}

}  // namespace
}  // namespace leeway::app
