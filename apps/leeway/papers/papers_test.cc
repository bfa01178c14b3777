#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/temp_folder.h"
#include "papers/cluster_rule.h"
#include "papers/direction.h"
#include "papers/paper_figure.h"
#include "papers/paper_report.h"
#include "simulate/scenario_file.h"

namespace leeway::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

const fs::path kScenarios = fs::path(LEEWAY_SOURCE_FOLDER) / "scenarios";

std::vector<fs::path> AllScenarios() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(kScenarios)) {
    if (entry.path().extension() == ".toml") paths.push_back(entry.path());
  }
  return paths;
}

Status RuleOf(const std::string& text) {
  const Result<ScenarioText> parsed = ParseScenario(text, "figure.toml");
  return parsed.ok() ? CheckNoClusterKeys(*parsed) : parsed.status();
}

TEST(ScenariosTest, EveryFileCanBeReadAndPlannedAtBothLengths) {
  EXPECT_GT(AllScenarios().size(), 20U);
  for (const fs::path& path : AllScenarios()) {
    for (const Length length : {Length::kWhole, Length::kQuick}) {
      const Result<ScenarioFile> file = ReadScenario(path.string(), length);
      ASSERT_TRUE(file.ok()) << file.status().ToString();
      std::vector<scenario::Sweep> sweeps;
      for (const std::string& text : file->study.sweeps) {
        const Result<scenario::Sweep> sweep = scenario::ParseSweep(text);
        ASSERT_TRUE(sweep.ok()) << path << ": " << sweep.status().ToString();
        sweeps.push_back(*sweep);
      }
      const Result<scenario::Study> study =
          scenario::PlanStudy(file->scenario, problem::BuiltinProblems(), sweeps, 1, 1);
      ASSERT_TRUE(study.ok()) << path << ": " << study.status().ToString();
      if (file->study.title.empty()) continue;
      for (const PaperFigure& paper : file->study.paper) {
        EXPECT_EQ(paper.values.size(), study->cells.size()) << path << ": " << paper.figure;
      }
      if (!file->study.labels.empty()) {
        EXPECT_EQ(file->study.labels.size(), study->cells.size()) << path;
      }
    }
  }
}

TEST(ClusterRuleTest, NoFigureSaysAnythingOfItsCluster) {
  const fs::path papers = kScenarios / "papers";
  for (const fs::path& path : AllScenarios()) {
    const fs::path inside = path.lexically_relative(papers);
    if (*inside.begin() == ".." || *inside.begin() == "clusters") continue;
    const Status kept = CheckFigureFile(path.string());
    EXPECT_TRUE(kept.ok()) << kept.ToString();
  }
}

TEST(ClusterRuleTest, AnOverrideInACellIsRefused) {
  EXPECT_TRUE(RuleOf("[training]\nrate = 0.1\n[delays]\nanswer_s = 4\n").ok());
  EXPECT_THAT(RuleOf("[compute]\nbase_s = 0.2\n").message(), HasSubstr("figure.toml line 2: compute.base_s"));
  EXPECT_THAT(RuleOf("[links]\nworker_gbit = 10\n").message(), HasSubstr("links.worker_gbit"));
  EXPECT_THAT(RuleOf("[server]\nfactors = [\"0:2\"]\n").message(), HasSubstr("server.factors"));
  EXPECT_THAT(RuleOf("[study.quick]\ncompute.spread = 0\n").message(), HasSubstr("compute.spread"));
  EXPECT_THAT(RuleOf("[study]\nsweeps = [\"compute.spread=0,1\"]\n").message(), HasSubstr("study.sweeps"));
  EXPECT_THAT(RuleOf("[study]\nsweeps = [\"cluster.workers+links.latency_s=8+0;16+1\"]\n").message(),
              HasSubstr("study.sweeps"));
}

TEST(ClusterRuleTest, AFigureWithoutAClusterIsRefused) {
  const leeway::testing::TempFolder folder;
  const std::string path = folder.PathOf("no_cluster.toml");
  std::ofstream(path) << "[training]\nrate = 0.1\n";
  EXPECT_THAT(CheckFigureFile(path).message(), HasSubstr("includes no file of clusters/"));
}

TEST(PaperFilesTest, AFigureHasItsPartsAndTenComesAfterNine) {
  const std::string folder = (kScenarios / "papers").string();
  const auto table4 = FindPaperFiles(folder, "fluentps", "table4");
  ASSERT_TRUE(table4.ok()) << table4.status().ToString();
  EXPECT_EQ(table4->size(), 4U);
  const auto all = FindPaperFiles(folder, "fluentps", "");
  ASSERT_TRUE(all.ok());
  std::vector<std::string> names;
  for (const PaperFile& file : *all) {
    if (file.figure.starts_with("figure")) names.push_back(file.figure);
  }
  EXPECT_THAT(names, ElementsAre("figure1", "figure2", "figure2_alone", "figure6", "figure7",
                                 "figure7_summed", "figure8", "figure9", "figure10", "figure11"));
  EXPECT_THAT(FindPaperFiles(folder, "fluentpss", "").status().message(), HasSubstr("did you mean"));
  EXPECT_THAT(FindPaperFiles(folder, "fluentps", "table5").status().message(), HasSubstr("table5"));
}

// Two cells and two seeds: DPRs 10 and 20 of one, 100 and 100 of the other.
scenario::Study TwoCells() {
  scenario::Study study;
  study.seeds = {1, 2};
  for (const char* label : {"lazy", "soft"}) {
    scenario::Cell cell;
    cell.label = label;
    cell.records.resize(2);
    study.cells.push_back(cell);
  }
  study.cells[0].records[0].dprs_per_100 = 10;
  study.cells[0].records[1].dprs_per_100 = 20;
  for (scenario::RunRecord& record : study.cells[1].records) record.dprs_per_100 = 100;
  return study;
}

TEST(DirectionTest, IsARatioSeedBySeed) {
  StudyWords words;
  words.directions = {"less | dprs_per_100 | lazy | soft | 0.08", "more | dprs_per_100 | soft | lazy | 0.5"};
  const auto directions = DirectionsOf(TwoCells(), words);
  ASSERT_TRUE(directions.ok()) << directions.status().ToString();
  EXPECT_NEAR((*directions)[0].ours.mean, 0.15, 1e-9);
  EXPECT_NEAR((*directions)[0].ours.high, 0.2, 1e-9);
  const chart::Table table = TableOfDirections(*directions, 2);
  EXPECT_EQ(table.rows[0].back().text, "yes");
  EXPECT_EQ(table.rows[1].back().text, "no");
}

std::string VerdictOf(const scenario::Study& study, const std::string& paper) {
  StudyWords words;
  words.directions = {"lazy over soft | dprs_per_100 | lazy | soft | " + paper};
  const auto directions = DirectionsOf(study, words);
  EXPECT_TRUE(directions.ok()) << directions.status().ToString();
  return TableOfDirections(*directions, study.seeds.size()).rows.at(0).back().text;
}

TEST(DirectionTest, ASeedWithARatioThatIsInfiniteIsOnTheOtherSide) {
  scenario::Study study = TwoCells();
  study.cells[1].records[1].dprs_per_100 = 0;  // 20 over 0
  EXPECT_EQ(VerdictOf(study, "0.08"), "not in every seed");
  EXPECT_EQ(VerdictOf(study, "2"), "not in every seed");
  study.cells[1].records[0].dprs_per_100 = 0;
  EXPECT_EQ(VerdictOf(study, "0.08"), "no");
  EXPECT_EQ(VerdictOf(study, "2"), "yes");
}

TEST(DirectionTest, ASeedWithoutARatioIsOnNoSide) {
  scenario::Study study = TwoCells();
  study.cells[0].records[1].dprs_per_100 = study.cells[1].records[1].dprs_per_100 = 0;
  EXPECT_EQ(VerdictOf(study, "0.08"), "not in every seed");
  study.cells[0].records[0].dprs_per_100 = study.cells[1].records[0].dprs_per_100 = 0;
  EXPECT_EQ(VerdictOf(study, "0.08"), "-");
}

TEST(DirectionTest, WhereThePaperHasNoDifferenceNoSeedMayHaveOne) {
  scenario::Study study = TwoCells();
  study.cells[0].records[0].dprs_per_100 = 80;  // and 120: the mean of the ratios is 1
  study.cells[0].records[1].dprs_per_100 = 120;
  EXPECT_EQ(VerdictOf(study, "1"), "no");
  study.cells[0].records[0].dprs_per_100 = 100.5;
  EXPECT_EQ(VerdictOf(study, "1"), "not in every seed");
  study.cells[0].records[1].dprs_per_100 = 99.5;
  EXPECT_EQ(VerdictOf(study, "1"), "yes");
}

TEST(DirectionTest, ARunWithErrorsSaysNothing) {
  scenario::Study study = TwoCells();
  study.cells[0].records[1].dprs_per_100 = 900;
  EXPECT_EQ(VerdictOf(study, "0.08"), "not in every seed");
  study.cells[0].records[1].errors = {"stopped before it began"};
  EXPECT_EQ(VerdictOf(study, "0.08"), "yes");
  study.cells[1].records[0].errors = {"it hung"};
  EXPECT_EQ(VerdictOf(study, "0.08"), "-");
}

TEST(DirectionTest, ASlipIsNamed) {
  StudyWords words;
  words.directions = {"less | dprs_per_100 | lasy | soft | 0.08"};
  EXPECT_THAT(DirectionsOf(TwoCells(), words).status().message(), HasSubstr("did you mean \"lazy\""));
  words.directions = {"less | dprs | lazy | soft | 0.08"};
  EXPECT_THAT(DirectionsOf(TwoCells(), words).status().message(), HasSubstr("unknown figure \"dprs\""));
}

TEST(PaperReportTest, TheCommandHasTheFirstSeedUnlessItIsOne) {
  PaperResult result;
  result.file = {"fluentps", "figure8", "figure8.toml", "Figure 8"};
  result.finished.study.seeds = {1, 2, 3};
  EXPECT_EQ(CommandOf(result), "leeway papers fluentps figure8 --seeds 3");
  result.finished.study.seeds = {7, 8};
  result.quick = true;
  EXPECT_EQ(CommandOf(result), "leeway papers fluentps figure8 --quick --seed 7 --seeds 2");
}

TEST(PaperReportTest, WhatDidNotRunSaysWhy) {
  PaperResult result;
  result.file = {"fluentps", "table4_x", "x.toml", "Table IV: x"};
  result.skipped = "there is no MNIST";
  EXPECT_THAT(PaperMarkdown({result}), HasSubstr("Not run: there is no MNIST"));
  EXPECT_THAT(PapersHtml({result}), HasSubstr("there is no MNIST"));
  EXPECT_TRUE(PicturesOf(result).empty());
}

}  // namespace
}  // namespace leeway::app
