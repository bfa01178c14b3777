#include "process/worker_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace leeway {
namespace {

using ::testing::HasSubstr;

Result<WorkerOptions> From(const std::map<std::string, std::string>& variables) {
  return WorkerOptionsFrom([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(WorkerEnvironmentTest, AProcessThatNobodyLaunchedHasNoScheduler) {
  const Result<WorkerOptions> options = From({{"LEEWAY_RANK", ""}, {"LEEWAY_JOB", ""}});
  ASSERT_TRUE(options.ok()) << options.status().ToString();
  EXPECT_EQ(options->scheduler, "");
  EXPECT_EQ(options->rank, -1);
  EXPECT_EQ(options->job, WorkerOptions().job);
  EXPECT_EQ(options->link.transport, LinkOptions().transport);
  EXPECT_FALSE(options->record || options->insecure);
  EXPECT_TRUE(options->plugins.empty());
}

TEST(WorkerEnvironmentTest, EveryVariableOfALauncherHasItsOption) {
  const Result<WorkerOptions> options = From({{"LEEWAY_SCHEDULER", "file:/tmp/a"},
                                              {"LEEWAY_SECRET_FILE", "/tmp/s"},
                                              {"LEEWAY_INSECURE", "1"},
                                              {"LEEWAY_JOB", "j"},
                                              {"LEEWAY_RANK", "3"},
                                              {"LEEWAY_TRANSPORT", "tcp"},
                                              {"LEEWAY_PLUGINS", "/tmp/a.so:b.so"},
                                              {"LEEWAY_RECORD", "1"},
                                              {"LEEWAY_TRACE", "/tmp/t"},
                                              {"LEEWAY_TRACE_STEPS", "7:9"}});
  ASSERT_TRUE(options.ok()) << options.status().ToString();
  EXPECT_EQ(options->plugins, (std::vector<std::string>{"/tmp/a.so", "b.so"}));
  EXPECT_EQ(options->scheduler, "file:/tmp/a");
  EXPECT_EQ(options->secret_file, "/tmp/s");
  EXPECT_TRUE(options->insecure);
  EXPECT_EQ(options->job, "j");
  EXPECT_EQ(options->rank, 3);
  EXPECT_EQ(options->link.transport, "tcp");
  EXPECT_TRUE(options->record);
  EXPECT_EQ(options->trace.folder, "/tmp/t");
  EXPECT_EQ(options->trace.steps, "7:9");
}

TEST(WorkerEnvironmentTest, AWrongRankIsNamed) {
  for (const char* rank : {"x", "3x", "-2", "99999999999999999999"}) {
    const Result<WorkerOptions> options = From({{"LEEWAY_RANK", rank}});
    ASSERT_FALSE(options.ok()) << rank;
    EXPECT_EQ(options.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(options.status().message(), HasSubstr(std::string("LEEWAY_RANK: got \"") + rank));
  }
}

}  // namespace
}  // namespace leeway
