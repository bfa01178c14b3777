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

}  // namespace
}  // namespace leeway::app
