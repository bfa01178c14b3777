#include "simulate/study_description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulate/testing/made_study.h"

namespace leeway::app {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::MadeRun;
using testing::MadeStudy;
using ::testing::Not;
using ::testing::Pair;

StudyWords SweptWords() {
  StudyWords words;
  words.sweeps = {"policies.sync=bsp;when:pull=\"progress < 3\",s=2"};
  return words;
}

TEST(StudyDescriptionTest, TheSubtitleNamesSweepAndSeedsAndNoSingleModel) {
  const auto study = MadeStudy({{"bsp", {MadeRun(1), MadeRun(2), MadeRun(3)}}});
  EXPECT_EQ(SubtitleOf(study, SweptWords()),
            "Simulated · policies.sync = bsp; when:pull=\"progress < 3\",s=2 · 2 workers · 1 server · mlp · "
            "seeds 1 to 3");
  EXPECT_THAT(SubtitleOf(study, {}), HasSubstr(study.base.job.sync + " · 2 workers"));
  StudyWords words;
  words.sweeps = {"faults.plan=;at=3 kill=worker.1"};
  EXPECT_THAT(SubtitleOf(study, words), HasSubstr(" · faults.plan = none; at=3 kill=worker.1 · "));
}

TEST(StudyDescriptionTest, TheScenarioGivesTheSameStudyAgain) {
  auto study = MadeStudy({{"bsp", {MadeRun(1), MadeRun(2)}}});
  study.base.job.workers = 5;
  study.seeds = {7, 8};
  StudyWords words = SweptWords();
  words.texts = {"Why \"bsp\" waits."};
  words.labels = {"BSP", "formula"};
  words.figures = {"seconds"};
  words.plots = {"bars:seconds"};
  const std::string text = StudyToml(study, words);
  EXPECT_THAT(text, HasSubstr("--seed 7\n"));
  EXPECT_THAT(text, Not(HasSubstr("\nsync = ")));
  const Result<ScenarioText> parsed = ParseScenario(text, "again.toml");
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  ScenarioFile file;
  ASSERT_TRUE(ApplyLines(*parsed, file).ok()) << ApplyLines(*parsed, file).ToString();
  for (const auto list : {&StudyWords::texts, &StudyWords::sweeps, &StudyWords::labels, &StudyWords::figures,
                          &StudyWords::plots})
    EXPECT_EQ(file.study.*list, words.*list);
  EXPECT_EQ(file.study.seeds, 2U);
  EXPECT_EQ(file.scenario.job.workers, 5U);
}

TEST(StudyDescriptionTest, SlowMachinesAreFacts) {
  auto study = MadeStudy({{"bsp", {MadeRun(1)}}});
  study.base.compute.factors = {{1, 2.5}};
  study.base.server.factors = {{0, 4}};
  const auto facts = FactsOf(study, SweptWords());
  EXPECT_THAT(facts, Contains(Pair("Slow workers", "worker 1: 2.5 times slower")));
  EXPECT_THAT(facts, Contains(Pair("Slow servers", "server 0: 4 times slower")));
  EXPECT_THAT(facts, Contains(Pair("Runs", "1 of 1 ended well")));
}

TEST(StudyDescriptionTest, WhatDisturbsTheJobIsAFact) {
  auto study = MadeStudy({{"bsp", {MadeRun(1)}}});
  for (const auto& [name, value] : FactsOf(study, SweptWords()))
    EXPECT_TRUE(name != "Changes" && name != "Faults" && name != "Late answers" && name != "Cards") << name;
  study.base.switches = {"at=9 sync=asp"};
  study.base.together = true;
  study.base.answer_delay = {.chance = 0.01, .seconds = 4};
  study.base.changes = {"at=1 link=server.0 slower=10", "every=9 for=1 work=workers slower=2"};
  study.base.faults.plan = {"at=3 kill=worker.1"};
  const auto facts = FactsOf(study, SweptWords());
  EXPECT_THAT(facts, Contains(Pair("Cards", "worker N and server N share one")));
  EXPECT_THAT(facts, Contains(Pair("Switches", "at=9 sync=asp")));
  EXPECT_THAT(facts, Contains(Pair("Late answers", "1 % by 4 s")));
  EXPECT_THAT(facts,
              Contains(Pair("Changes", "at=1 link=server.0 slower=10; every=9 for=1 work=workers slower=2")));
  EXPECT_THAT(facts, Contains(Pair("Faults", "at=3 kill=worker.1")));
}

TEST(StudyDescriptionTest, AFactThatASweepChangesSaysSo) {
  const auto study = MadeStudy({{"bsp", {MadeRun(1)}}});
  StudyWords words;
  words.sweeps = {"pool=60,90", "links.server_gbit=1,10", "training.rate+compute.factors=0.1+0:2;0.2+0:4"};
  const auto facts = FactsOf(study, words);
  for (const char* name : {"Iterations", "Links", "Optimizer", "Slow workers"})
    EXPECT_THAT(facts, Contains(Pair(name, "swept")));
}

TEST(StudyDescriptionTest, ACellIsNamedByItsSettings) {
  scenario::Cell cell;
  cell.settings = {{"cluster.workers", "16"}, {"policies.sync", "ssp:3"}};
  cell.label = "16, ssp:3";
  EXPECT_EQ(NameOf(cell, {}), "workers=16, ssp:3");
  cell.settings = {{"faults.plan", ""}};
  EXPECT_EQ(NameOf(cell, {}), "faults.plan=none");
  EXPECT_EQ(Listed({"a", "b", "c"}), "a, b and c");
}

}  // namespace
}  // namespace leeway::app
