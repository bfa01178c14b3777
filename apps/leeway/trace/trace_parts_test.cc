#include "trace/trace_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/errors.h"

namespace leeway::app {
namespace {

using ::testing::HasSubstr;

class TracePartsTest : public ::testing::Test {
 protected:
  TracePartsTest() { std::filesystem::create_directory(folder); }
  ~TracePartsTest() override { std::filesystem::remove_all(folder); }
  void Write(const TraceParts& parts, const std::string& name, const std::string& text) const {
    std::ofstream(parts.options().folder + "/" + name) << text;
  }
  [[nodiscard]] nlohmann::json Read() const {
    std::ifstream in(file);
    return nlohmann::json::parse(in);
  }
  static std::string Event(const std::string& phase, int pid, const std::string& id) {
    return R"({"ph":")" + phase + R"(","pid":)" + std::to_string(pid) +
           R"(,"tid":1,"ts":9000000000000000.000,"cat":"wait","id":")" + id + R"(","name":"wait","args":{}})";
  }

  const std::string folder = ::testing::TempDir() + "/trace_parts_test." + std::to_string(getpid());
  const std::string file = folder + "/out.json";
};

TEST_F(TracePartsTest, EventsOfAllProcessesComeIntoOneFileAndThePartsGo) {
  const Result<TraceParts> parts = TraceParts::Make(file, "1:2");
  ASSERT_TRUE(parts.ok()) << parts.status().ToString();
  Write(*parts, "worker-0.1.jsonl", Event("b", 1, "1.1") + "\n" + Event("e", 1, "1.1") + "\n");
  Write(*parts, "worker-1.2.jsonl", Event("X", 2, "") + "\n");
  const Result<MergedTrace> merged = parts->Merge();
  ASSERT_TRUE(merged.ok()) << merged.status().ToString();
  EXPECT_EQ(merged->events, 3U);
  EXPECT_EQ(merged->processes, 2U);
  EXPECT_EQ(merged->half_lines, 0U);
  EXPECT_EQ(Read()["traceEvents"].size(), 3U);
  EXPECT_FALSE(std::filesystem::exists(parts->options().folder));
}

TEST_F(TracePartsTest, AProcessThatWasKilledLosesItsHalfLineAndItsSpansEnd) {
  const Result<TraceParts> parts = TraceParts::Make(file, "1:2");
  ASSERT_TRUE(parts.ok());
  const std::string end = Event("e", 1, "1.1");
  Write(*parts, "worker-0.1.jsonl", Event("b", 1, "1.1") + "\n" + end.substr(0, end.size() / 2));
  const Result<MergedTrace> merged = parts->Merge();
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(merged->half_lines, 1U);
  const nlohmann::json events = Read()["traceEvents"];
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[1]["ph"], "e");
  EXPECT_EQ(events[1]["id"], "1.1");
  EXPECT_EQ(events[1]["args"]["cut"], true);
}

TEST_F(TracePartsTest, PartsThatAKilledLauncherLeftAreNotOfThisRun) {
  const Result<TraceParts> before = TraceParts::Make(file, "1:2");
  ASSERT_TRUE(before.ok());
  Write(*before, "worker-0.1.jsonl", Event("X", 1, "") + "\n");
  const Result<TraceParts> parts = TraceParts::Make(file, "1:2");
  ASSERT_TRUE(parts.ok());
  Write(*parts, "worker-0.2.jsonl", Event("X", 2, "") + "\n");
  const Result<MergedTrace> merged = parts->Merge();
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(merged->events, 1U);
  EXPECT_EQ(Read()["traceEvents"][0]["pid"], 2);
}

TEST_F(TracePartsTest, AJobThatNeverBeganLeavesAnEarlierTraceAsItIs) {
  std::ofstream(file) << R"({"traceEvents":["earlier"]})";
  const Result<TraceParts> parts = TraceParts::Make(file, "1:2");
  ASSERT_TRUE(parts.ok());
  const Result<MergedTrace> merged = parts->Merge();
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(merged->processes, 0U);
  EXPECT_EQ(Read()["traceEvents"][0], "earlier");
  EXPECT_FALSE(std::filesystem::exists(parts->options().folder));
  EXPECT_THAT(ToText(*merged, "out.json"), HasSubstr("out.json was not written"));
}

TEST_F(TracePartsTest, AFolderThatIsNotThereIsRefusedBeforeTheJobBegins) {
  EXPECT_THAT(TraceParts::Make(folder + "/none/out.json", "1:2").status().message(),
              HasSubstr("cannot make the folder"));
  EXPECT_THAT(TraceParts::Make(file, "2:1").status().message(), HasSubstr("wanted two numbers FROM:TO"));
}

TEST_F(TracePartsTest, TheLineForPeopleSaysHowManyProcessesHadTooManyEvents) {
  EXPECT_EQ(ToText({.events = 7, .processes = 2}, "out.json"),
            "trace: out.json has 7 events of 2 processes; ui.perfetto.dev opens it");
  EXPECT_THAT(ToText({.events = 7, .processes = 2, .ended_early = 1}, "out.json"),
              HasSubstr("1 of them had more events"));
}

}  // namespace
}  // namespace leeway::app
