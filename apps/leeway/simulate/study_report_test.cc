#include "simulate/study_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway::app {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

scenario::RunRecord RunWithPictures() {
  scenario::RunRecord record;
  record.seed = 2;
  record.curve = {{0, 0, 2.5, 0.1}, {1.5, 10, 1.5, 0.5}, {3, 20, 0.75, 0.875}};
  record.wait_bins.assign(scenario::kTimeBins, 0.01);
  record.answer_bins.assign(scenario::kTimeBins, 0.02);
  record.lag = {.rows = 1, .columns = 2, .column_s = 1.5, .values = {0, 3}};
  record.waits = {.rows = 1, .columns = 2, .column_s = 1.5, .values = {0.25, 0.5}};
  record.timeline = {{.rank = 0, .iteration = 7, .asked_s = 0, .began_s = 1, .ended_s = 2}};
  return record;
}

scenario::RunRecord RunThatNeverBegan() {
  scenario::RunRecord record;
  record.errors = {"stopped before it began"};
  return record;
}

// Of two seeds, whatever there are records of.
scenario::Study StudyOfOneCell(std::vector<scenario::RunRecord> records) {
  scenario::Study study;
  study.seeds = {1, 2};
  study.cells.push_back({.settings = {}, .label = "bsp", .scenario = {}, .records = std::move(records)});
  return study;
}

std::vector<std::string> TitlesOfFigures(const chart::Section& section) {
  std::vector<std::string> titles;
  for (const chart::Piece& piece : section.pieces) {
    if (const auto* figure = std::get_if<chart::Figure>(&piece)) titles.push_back(figure->drawing.title);
  }
  return titles;
}

TEST(StudyReportTest, ARunThatNeverBeganTakesNothingFromAPlot) {
  StudyWords words;
  words.plots = {"curve:accuracy", "curve:loss", "waits", "answers"};
  const auto both = PlotsOf(StudyOfOneCell({RunThatNeverBegan(), RunWithPictures()}), words);
  const auto alone = PlotsOf(StudyOfOneCell({RunWithPictures()}), words);
  const auto none = PlotsOf(StudyOfOneCell({RunThatNeverBegan()}), words);
  ASSERT_EQ(both.size(), 6U);
  for (std::size_t i = 0; i < both.size(); ++i) {
    EXPECT_EQ(both[i].second.body, alone[i].second.body) << both[i].first;
    EXPECT_NE(both[i].second.body, none[i].second.body) << both[i].first;
  }
}

TEST(StudyReportTest, ARunWithErrorsIsInNoPlot) {
  scenario::RunRecord odd = RunWithPictures();
  for (scenario::CurvePoint& point : odd.curve) point.loss *= 100;
  for (double& share : odd.wait_bins) share = 1;
  odd.errors = {"it hung"};
  StudyWords words;
  words.plots = {"curve:loss", "waits"};
  const auto both = PlotsOf(StudyOfOneCell({RunWithPictures(), odd}), words);
  const auto alone = PlotsOf(StudyOfOneCell({RunWithPictures()}), words);
  for (std::size_t i = 0; i < both.size(); ++i)
    EXPECT_EQ(both[i].second.body, alone[i].second.body) << both[i].first;
}

TEST(StudyReportTest, MapsAreOfTheFirstRunThatEndedWell) {
  const std::vector<std::string> both =
      TitlesOfFigures(SectionOf(StudyOfOneCell({RunThatNeverBegan(), RunWithPictures()}), {}));
  EXPECT_EQ(both, TitlesOfFigures(SectionOf(StudyOfOneCell({RunWithPictures()}), {})));
  EXPECT_THAT(both, ::testing::Contains("What the workers do: bsp"));
  EXPECT_THAT(TitlesOfFigures(SectionOf(StudyOfOneCell({RunThatNeverBegan()}), {})), IsEmpty());
}

TEST(StudyReportTest, ALineIsNamedByAllSweepsButTheLast) {
  scenario::Study study;
  study.seeds = {1};
  for (const char* sync : {"bsp", "asp"}) {
    for (const char* placement : {"eps", "range"}) {
      for (const char* workers : {"8", "16"}) {
        scenario::Cell cell;
        cell.settings = {
            {"policies.sync", sync}, {"policies.placement", placement}, {"cluster.workers", workers}};
        cell.records.resize(1);
        cell.records[0].seconds = 5;
        study.cells.push_back(cell);
      }
    }
  }
  StudyWords words;
  words.plots = {"lines:seconds"};
  const std::string body = PlotsOf(study, words).at(0).second.body;
  for (const char* line : {"bsp, eps", "bsp, range", "asp, eps", "asp, range"})
    EXPECT_THAT(body, HasSubstr(line));
}

}  // namespace
}  // namespace leeway::app
