#include "simulate/study_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "simulate/testing/made_study.h"

namespace leeway::app {
namespace {

using ::testing::Contains;
using testing::MadeRun;
using testing::MadeStudy;
using testing::RunThatNeverBegan;
using Json = nlohmann::ordered_json;

scenario::Study TwoModels() {
  return MadeStudy({{"bsp", {MadeRun(20), MadeRun(22)}}, {"asp", {MadeRun(10), MadeRun(11)}}});
}

std::vector<Json> ChartsOf(const Json& document, const std::string& kind) {
  std::vector<Json> charts;
  for (const Json& section : document["sections"]) {
    for (const Json& chart : section["charts"]) {
      if (chart["kind"] == kind) charts.push_back(chart);
    }
  }
  return charts;
}

std::vector<std::string> TitlesOf(const std::vector<Json>& charts) {
  std::vector<std::string> titles;
  for (const Json& chart : charts) titles.push_back(chart.value("title", ""));
  return titles;
}

TEST(StudyDocumentTest, BeginsWithTheVerdictAndHasAllParts) {
  const Json document = StudyDocument(TwoModels(), {});
  for (const char* key : {"title", "subtitle", "verdict", "errors", "facts", "scenario", "sections"})
    EXPECT_TRUE(document.contains(key)) << key;
  EXPECT_EQ(document["verdict"].size(), 3U);
  EXPECT_EQ(ChartsOf(document, "table").size(), 1U);
  EXPECT_THAT(TitlesOf(ChartsOf(document, "bars")), Contains("Time to accuracy 0.9"));
}

TEST(StudyDocumentTest, ThePageSaysWhatFixedIterationsHide) {
  scenario::Study study = TwoModels();
  const auto note = [&study] { return StudyDocument(study, {})["sections"][1]["note"].get<std::string>(); };
  EXPECT_EQ(note(),
            "Every worker does the same number of iterations, so no job ends before its slowest machine is "
            "done. The time to accuracy 0.9 is what a model gains.");
  for (scenario::Cell& cell : study.cells) {
    for (scenario::RunRecord& record : cell.records) record.curve.clear();
  }
  EXPECT_EQ(note(),
            "Every worker does the same number of iterations, so no job ends before its slowest machine is "
            "done.");
  for (scenario::Cell& cell : study.cells) cell.scenario.pool = 40;
  EXPECT_EQ(note(), "");
}

TEST(StudyDocumentTest, BarsHaveTheMeanAndTheRange) {
  for (const Json& chart : ChartsOf(StudyDocument(TwoModels(), {}), "bars")) {
    if (chart["title"] != "Time to the end of all iterations") continue;
    EXPECT_EQ(chart["categories"], Json({"bsp", "asp"}));
    EXPECT_EQ(chart["series"][0]["values"], Json({21.0, 10.5}));
    EXPECT_EQ(chart["series"][0]["low"], Json({20.0, 10.0}));
    EXPECT_EQ(chart["series"][0]["high"], Json({22.0, 11.0}));
    return;
  }
  ADD_FAILURE() << "there is no such chart";
}

TEST(StudyDocumentTest, MapsShareTheirScale) {
  scenario::Study study = TwoModels();
  study.cells[1].records[0].lag.values = {0, 0, 9, 12};
  std::size_t lags = 0;
  for (const Json& map : ChartsOf(StudyDocument(study, {}), "map")) {
    const bool is_lag = map["title"].get<std::string>().starts_with("Iterations behind");
    lags += is_lag ? 1 : 0;
    EXPECT_EQ(map["max"], is_lag ? 12 : 100) << map["title"];
  }
  EXPECT_EQ(lags, 2U);
}

TEST(StudyDocumentTest, AWorkerThatMayBeDownHasNotFinished) {
  scenario::Study study = TwoModels();
  study.cells[1].scenario.faults.plan = {"at=1 kill=worker.0"};
  std::vector<std::string> meanings;
  for (const Json& map : ChartsOf(StudyDocument(study, {}), "map")) meanings.push_back(map["none"]);
  EXPECT_THAT(meanings, Contains("has finished"));
  EXPECT_THAT(meanings, Contains("has finished, or is down"));
}

TEST(StudyDocumentTest, AMapThatIsPaleBesideAnotherIsASentence) {
  scenario::Study study = TwoModels();
  study.cells[1].records[0].lag.values = {0, 0, 9, 45};
  EXPECT_NE(StudyDocument(study, {}).dump().find("blank: bsp (at most 4 behind)."), std::string::npos);
}

TEST(StudyDocumentTest, AMapOfNothingIsASentence) {
  scenario::Study study = TwoModels();
  study.cells[1].records[0].lag.values = {0, 0, 1, 1};
  study.cells[1].records[0].waits.values = {0.01, 0.02, 0, 0};
  const Json document = StudyDocument(study, {});
  for (const std::string& title : TitlesOf(ChartsOf(document, "map")))
    EXPECT_TRUE(title.ends_with(": bsp")) << title;
  EXPECT_NE(document.dump().find("There is no map of waits where it would be blank: asp (at most 2 %)."),
            std::string::npos);
  EXPECT_NE(document.dump().find("blank: asp (at most 1 behind)."), std::string::npos);
}

TEST(StudyDocumentTest, ATimelineIsOfTheTimesThatWereAskedFor) {
  const std::vector<Json> timelines = ChartsOf(StudyDocument(TwoModels(), {}), "timeline");
  ASSERT_EQ(timelines.size(), 2U);
  EXPECT_EQ(timelines[0]["from_s"], 1);
  EXPECT_EQ(timelines[0]["to_s"], 3);
  // It waited from 0.5 to 1.5 s and computed until 9 s.
  EXPECT_EQ(timelines[0]["spans"],
            Json::parse(R"([[0, 1.5, 3.0, 0, "iteration 7"], [0, 1.0, 1.5, 1, "iteration 7"]])"));
}

TEST(StudyDocumentTest, ARunThatNeverBeganOrFailedTakesNothingFromACurve) {
  scenario::RunRecord odd = MadeRun(20);
  for (scenario::CurvePoint& point : odd.curve) point.accuracy *= 10;
  odd.errors = {"it hung"};
  const auto lines = [](std::vector<scenario::RunRecord> records) {
    return ChartsOf(StudyDocument(MadeStudy({{"bsp", std::move(records)}}), {}), "lines").at(0)["series"];
  };
  const Json both = lines({RunThatNeverBegan(), MadeRun(20), odd});
  EXPECT_EQ(both[0]["points"], lines({MadeRun(20), RunThatNeverBegan(), RunThatNeverBegan()})[0]["points"]);
  EXPECT_EQ(both[0]["points"], Json::parse("[[0, 0.1], [10.0, 0.5], [20.0, 0.9]]"));
}

TEST(StudyDocumentTest, WithoutAnyRunThatEndedWellThereIsTheTableAndItsErrors) {
  const Json document = StudyDocument(MadeStudy({{"bsp", {RunThatNeverBegan()}}}), {});
  EXPECT_EQ(document["sections"].size(), 1U);
  EXPECT_EQ(document["errors"].size(), 1U);
}

TEST(StudyDocumentTest, PlotsOfTheScenarioAreDrawn) {
  StudyWords words;
  words.plots = {"bars:wait_s", "curve:loss", "waits", "answers"};
  const Json document = StudyDocument(TwoModels(), words);
  EXPECT_EQ(document["sections"][1]["title"], "Plots");
  EXPECT_EQ(document["sections"][1]["charts"].size(), 5U);
}

TEST(StudyDocumentTest, ALineIsNamedByAllSweepsButTheLast) {
  scenario::Study study;
  study.seeds = {1};
  for (const char* sync : {"bsp", "asp"}) {
    for (const char* placement : {"eps", "range"}) {
      for (const char* workers : {"8", "16"}) {
        scenario::Cell cell;
        cell.settings = {
            {"policies.sync", sync}, {"policies.placement", placement}, {"cluster.workers", workers}};
        cell.records = {MadeRun(5)};
        study.cells.push_back(cell);
      }
    }
  }
  StudyWords words;
  words.plots = {"lines:seconds"};
  const Json series = ChartsOf(StudyDocument(study, words), "lines").at(0)["series"];
  std::vector<std::string> names;
  for (const Json& one : series) names.push_back(one["name"]);
  EXPECT_THAT(names, ::testing::ElementsAre("bsp, eps", "bsp, range", "asp, eps", "asp, range"));
  EXPECT_EQ(series[0]["points"], Json::parse("[[8.0, 5.0], [16.0, 5.0]]"));
}

}  // namespace
}  // namespace leeway::app
