#include "simulate/study_trace.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace leeway::app {
namespace {

TEST(StudyTraceTest, ANameThatIsNoUtf8IsReplaced) {
  const auto json = nlohmann::json::parse(TraceJson(scenario::RunRecord{}, "caf\xE9"));
  EXPECT_EQ(json["traceEvents"][0]["args"]["name"].get<std::string>(), "caf\uFFFD");
}

}  // namespace
}  // namespace leeway::app
