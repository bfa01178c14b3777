#include "simulate/study_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace leeway::app {
namespace {

TEST(StudyJsonTest, ANameThatIsNoUtf8IsReplaced) {
  scenario::Study study;
  study.base.name = "caf\xE9";  // of a file with a name in Latin-1
  study.seeds = {1};
  study.cells.push_back({.settings = {}, .label = study.base.name, .scenario = {}, .records = {}});
  study.cells[0].records.resize(1);
  const auto json = nlohmann::json::parse(StudyJson(study));
  EXPECT_EQ(json["name"].get<std::string>(), "caf\uFFFD");
  EXPECT_EQ(json["cells"][0]["label"].get<std::string>(), "caf\uFFFD");
}

TEST(StudyJsonTest, EachServerHasItsLoadAndItsSpeed) {
  scenario::Study study;
  study.seeds = {1};
  study.cells.push_back({.settings = {}, .label = "one", .scenario = {}, .records = {}});
  study.cells[0].records.resize(1);
  study.cells[0].records[0].servers = {{.bytes_in = 10}, {.bytes_in = 20}};
  study.cells[0].records[0].server_message_s = {0.001, 0.004};
  const auto servers = nlohmann::json::parse(StudyJson(study))["cells"][0]["runs"][0]["servers"];
  ASSERT_EQ(servers.size(), 2U);
  EXPECT_EQ(servers[1]["bytes_in"], 20);
  EXPECT_EQ(servers[1]["message_mean_s"], 0.004);
}

}  // namespace
}  // namespace leeway::app
