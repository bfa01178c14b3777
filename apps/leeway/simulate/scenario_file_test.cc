#include "simulate/scenario_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/temp_folder.h"
#include "simulate/simulate.h"

namespace leeway::app {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ScenarioFileTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.PathOf(name)) << text;
    return folder_.PathOf(name);
  }
  std::string MessageOf(const std::string& text) {
    const Result<ScenarioFile> file = ReadScenario(Write("bad.toml", text));
    return file.ok() ? "" : file.status().message();
  }

  const leeway::testing::TempFolder folder_;
};

TEST_F(ScenarioFileTest, TheRecordOfARunIsNamedAsSuch) {
  EXPECT_THAT(MessageOf("\n{\"version\": 1}\n"),
              AllOf(HasSubstr("bad.toml: got JSON, wanted a scenario file"),
                    HasSubstr("did you mean --from-run "), Not(HasSubstr("line 1"))));
}

TEST_F(ScenarioFileTest, SaysWhatTheJobIs) {
  const Result<ScenarioFile> file = ReadScenario(Write("job.toml",
                                                       "iterations = 7\n"
                                                       "[cluster]\nworkers = 3\n"
                                                       "[compute]\nbase_s = 2\nfactors = [\"1:2.5\"]\n"
                                                       "[policies]\nsync = \"ssp:2\"\noverlap = false\n"
                                                       "[training]\nrate_at = [10, 20]\n"));
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(file->scenario.name, "job");
  EXPECT_EQ(file->scenario.iterations, 7U);
  EXPECT_EQ(file->scenario.job.workers, 3U);
  EXPECT_EQ(file->scenario.compute.base_s, 2.0);
  EXPECT_EQ(file->scenario.compute.factors[0].second, 2.5);
  EXPECT_EQ(file->scenario.job.sync, "ssp:2");
  EXPECT_FALSE(file->scenario.job.overlap);
  EXPECT_THAT(file->scenario.rate.at, ElementsAre(10, 20));
}

TEST_F(ScenarioFileTest, WhatItIncludesComesFirst) {
  Write("cluster.toml", "[cluster]\nworkers = 9\nservers = 2\n");
  const Result<ScenarioFile> file =
      ReadScenario(Write("job.toml", "include = \"cluster.toml\"\n[cluster]\nworkers = 4\n"));
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(file->scenario.job.workers, 4U);
  EXPECT_EQ(file->scenario.job.servers, 2U);
  EXPECT_FALSE(ReadScenario(Write("self.toml", "include = \"self.toml\"\n")).ok());
  EXPECT_FALSE(ReadScenario(Write("none.toml", "include = \"nobody.toml\"\n")).ok());
}

TEST_F(ScenarioFileTest, AMistakeIsToldWithFileLineKeyGotAndWanted) {
  EXPECT_THAT(MessageOf("\n[compute]\nspread = 9\n"),
              AllOf(HasSubstr("bad.toml line 3"), HasSubstr("compute.spread"), HasSubstr("got the number 9"),
                    HasSubstr("wanted a number from 0 to 5")));
  EXPECT_THAT(MessageOf("[compute]\nspread = \"0.2\"\n"), AllOf(HasSubstr("line 2"), HasSubstr("got text")));
  EXPECT_THAT(MessageOf("[compute]\nspred = 1\n"), AllOf(HasSubstr("line 2"), HasSubstr("compute.spread")));
  EXPECT_THAT(MessageOf("[compute]\nspread = [1]\n"), HasSubstr("got a list"));
  EXPECT_THAT(MessageOf("[compute]\nspread = 1979-05-27\n"), HasSubstr("line 2"));
  EXPECT_THAT(MessageOf("[[compute]]\nspread = 1\n"), HasSubstr("compute"));
  EXPECT_THAT(MessageOf("iterations = \n"), HasSubstr("bad.toml line 1"));
  EXPECT_THAT(MessageOf("[cluster]\nworkers = 2\n[compute]\nfactors = [\"2:3\"]\n"),
              AllOf(HasSubstr("bad.toml line 4: compute.factors"), HasSubstr("rank 2")));
  EXPECT_THAT(MessageOf("include = 7\n"), HasSubstr("include"));
}

TEST_F(ScenarioFileTest, WhereEachKeyStandsIsKept) {
  Write("base.toml", "[policies]\nsync = \"bsp\"\napply = \"aggregate\"\n");
  const Result<ScenarioFile> file =
      ReadScenario(Write("top.toml", "include = \"base.toml\"\n[policies]\nsync = \"ssp:3\"\n"));
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_THAT(scenario::KeyWithPlace(file->scenario, "policies.sync"),
              HasSubstr("top.toml line 3: policies.sync"));
  EXPECT_THAT(scenario::KeyWithPlace(file->scenario, "policies.apply"), HasSubstr("base.toml line 3"));
  EXPECT_EQ(scenario::KeyWithPlace(file->scenario, "policies.pull"), "top: policies.pull");
}

TEST_F(ScenarioFileTest, AQuickFormThatIsIncludedKeepsItsPlace) {
  Write("base.toml", "\n\n[study.quick]\npolicies.sync = \"bsp\"\n");
  const Result<ScenarioFile> file =
      ReadScenario(Write("top.toml", "include = \"base.toml\"\n"), Length::kQuick);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_THAT(scenario::KeyWithPlace(file->scenario, "policies.sync"), HasSubstr("base.toml line 4"));
}

TEST_F(ScenarioFileTest, EveryWordOfAStudyThatIsListedIsTaken) {
  for (const scenario::KeyText& key : StudyKeys()) {
    const std::string word = key.key.substr(6);
    EXPECT_THAT(MessageOf("[study]\n" + word + " = true\n"), Not(HasSubstr("unknown key"))) << word;
  }
}

TEST_F(ScenarioFileTest, TheFirstMistakeOfAFileIsToldFirst) {
  EXPECT_THAT(MessageOf("[training]\nrate = -1\n[cluster]\nworkers = 0\n"), HasSubstr("training.rate"));
}

TEST_F(ScenarioFileTest, AStudyHasSweepsSeedsAndAQuickForm) {
  const std::string path = Write("study.toml",
                                 "iterations = 100\n"
                                 "[study]\nsweeps = [\"policies.sync=bsp,asp\"]\nseeds = 3\n"
                                 "labels = [\"a\", \"b\"]\n"
                                 "[study.quick]\niterations = 5\nseeds = 1\n");
  const Result<ScenarioFile> whole = ReadScenario(path);
  ASSERT_TRUE(whole.ok()) << whole.status().ToString();
  EXPECT_EQ(whole->scenario.iterations, 100U);
  EXPECT_EQ(whole->study.seeds, 3U);
  EXPECT_THAT(whole->study.labels, ElementsAre("a", "b"));
  const Result<ScenarioFile> quick = ReadScenario(path, Length::kQuick);
  ASSERT_TRUE(quick.ok());
  EXPECT_EQ(quick->scenario.iterations, 5U);
  EXPECT_EQ(quick->study.seeds, 1U);
  EXPECT_THAT(MessageOf("[study]\nsead = 1\n"), HasSubstr("study.sead"));
  EXPECT_THAT(MessageOf("[study]\nfigures = [\"speed\"]\n"), HasSubstr("unknown figure \"speed\""));
  EXPECT_THAT(MessageOf("[study]\nseeds = 0\n"), HasSubstr("study.seeds"));
}

TEST_F(ScenarioFileTest, SeedsAreAWholeNumber) {
  const Result<ScenarioFile> most = ReadScenario(Write("most.toml", "[study]\nseeds = 10000\n"));
  ASSERT_TRUE(most.ok()) << most.status().ToString();
  EXPECT_EQ(most->study.seeds, 10'000U);
  for (const char* seeds : {"0", "-1", "10001", "4294967297", "1.5", "\"3\"", "[3]", "[]", "true"}) {
    EXPECT_THAT(
        MessageOf(std::string("[study]\nseeds = ") + seeds + "\n"),
        AllOf(HasSubstr("line 2: study.seeds: got "), HasSubstr("wanted a whole number from 1 to 10000")))
        << seeds;
  }
}

// The files that come with Leeway: the examples, and the scenarios of papers.
std::vector<fs::path> FilesThatCome() {
  const fs::path root = LEEWAY_SOURCE_FOLDER;
  std::vector<fs::path> paths;
  for (const char* folder : {"scenarios", "papers"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const bool is_scenario = entry.path().parent_path().filename() == "scenarios";
      if (entry.path().extension() == ".toml" && is_scenario) paths.push_back(entry.path());
    }
  }
  return paths;
}

TEST(ScenariosTest, EveryFileCanBeReadAtBothLengths) {
  EXPECT_GT(FilesThatCome().size(), 20U);
  for (const fs::path& path : FilesThatCome()) {
    for (const Length length : {Length::kWhole, Length::kQuick}) {
      const Result<ScenarioFile> file = ReadScenario(path.string(), length);
      EXPECT_TRUE(file.ok()) << file.status().ToString();
    }
  }
}

}  // namespace
}  // namespace leeway::app
