#include "process/trace_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class KeptLog final : public Log {
 public:
  void Write(LogLevel, std::string_view line) override {
    lines.emplace_back(line);
    if (on_line) on_line();
  }
  std::vector<std::string> lines;
  std::function<void()> on_line;
};

class TraceFileTest : public ::testing::Test {
 protected:
  ~TraceFileTest() override { std::remove(path.c_str()); }
  [[nodiscard]] std::vector<std::string> Lines() const {
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
      if (line.find("\"ph\":\"M\"") == std::string::npos) lines.push_back(line);
    }
    return lines;
  }
  static TraceEvent Span(TraceEvent::Kind kind, std::int64_t us) {
    return {.kind = kind,
            .name = "push",
            .of = "a \"b\"",
            .iteration = Iteration(7),
            .id = 18,
            .at = TimePoint(std::chrono::microseconds(us)),
            .track = 3};
  }

  const std::string path = ::testing::TempDir() + "/trace_file_test." + std::to_string(getpid());
  const TraceWindow window{Iteration(5), Iteration(8)};
  const TraceFile::Names names{"worker 0", 0, {{3, "I/O thread"}}};
  KeptLog log;
};

TEST_F(TraceFileTest, EventsAreLinesThatSurviveAtEachFlush) {
  TraceFile file(path, window, 100, names, log);
  file.Add(Span(TraceEvent::Kind::kBegin, 12));
  EXPECT_THAT(Lines(), IsEmpty());
  file.Flush();
  const std::string pid = std::to_string(getpid());
  ASSERT_EQ(Lines().size(), 1U);
  EXPECT_THAT(Lines()[0],
              HasSubstr(R"({"ph":"b","pid":)" + pid + R"(,"tid":3,"ts":12.000,"cat":"push","id":")"));
  EXPECT_THAT(Lines()[0], HasSubstr(R"(.12","name":"push","args":{"iteration":7,"of":"a \"b\""}})"));
  EXPECT_THAT(log.lines, IsEmpty());
}

TEST_F(TraceFileTest, OnlyTheIterationsOfItsWindowAreWanted) {
  const TraceFile file(path, window, 100, names, log);
  EXPECT_FALSE(file.Wants(Iteration(4)));
  EXPECT_TRUE(file.Wants(Iteration(5)));
  EXPECT_TRUE(file.Wants(Iteration(7)));
  EXPECT_FALSE(file.Wants(Iteration(8)));
}

TEST_F(TraceFileTest, ItEndsWithALineThatSaysSoAtItsLimit) {
  TraceFile file(path, window, 2, names, log);
  file.Add(Span(TraceEvent::Kind::kBegin, 1));
  EXPECT_TRUE(file.Wants(Iteration(5)));
  file.Add(Span(TraceEvent::Kind::kEnd, 2));
  file.Add(Span(TraceEvent::Kind::kBegin, 3));
  EXPECT_FALSE(file.Wants(Iteration(5)));
  ASSERT_EQ(Lines().size(), 3U);
  EXPECT_THAT(Lines()[2], HasSubstr("it has 2 events, the most that it may have"));
}

TEST_F(TraceFileTest, AFullDiskEndsItWithOneLine) {
  TraceFile file("/dev/full", window, 100, names, log);
  file.Add(Span(TraceEvent::Kind::kBegin, 1));
  file.Flush();
  EXPECT_FALSE(file.Wants(Iteration(5)));
  EXPECT_THAT(log.lines,
              ElementsAre(HasSubstr("cannot write /dev/full: No space left on device; the trace")));
}

// The process forks while it writes, which is under the lock.
TEST_F(TraceFileTest, AForkedChildWaitsForNoLockOfItsParent) {
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  TraceFile file(path, window, 100, names, log);
  int ended = -1;
  log.on_line = [&] {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);  // ends a child that hangs
      file.Add(Span(TraceEvent::Kind::kEnd, 2));
      file.Flush();
      _exit(0);
    }
    waitpid(child, &ended, 0);
  };
  // A pipe without a reader takes no bytes.
  const auto handler = std::signal(SIGPIPE, SIG_IGN);
  close(reader);
  file.Add(Span(TraceEvent::Kind::kBegin, 1));
  file.Flush();
  std::signal(SIGPIPE, handler);
  EXPECT_THAT(log.lines, ElementsAre(HasSubstr("Broken pipe")));
  EXPECT_EQ(ended, 0);
}

TEST_F(TraceFileTest, AFolderThatIsNotThereIsNoError) {
  const TraceFile file(path + "/none/x", window, 100, names, log);
  EXPECT_FALSE(file.Wants(Iteration(5)));
  EXPECT_THAT(log.lines, ElementsAre(HasSubstr("No such file or directory")));
}

TEST(TraceStepsTest, AWindowIsTwoNumbersTheFirstBelowTheSecond) {
  const Result<TraceWindow> window = ParseTraceSteps("100:120");
  ASSERT_TRUE(window.ok());
  EXPECT_EQ(window->from, Iteration(100));
  EXPECT_EQ(window->to, Iteration(120));
  for (const char* text : {"", "100", "100:", ":120", "120:100", "5:5", "-3:4", "1:2:3", "a:b"})
    EXPECT_THAT(ParseTraceSteps(text).status().message(), HasSubstr("wanted two numbers FROM:TO")) << text;
}

}  // namespace
}  // namespace leeway
