#include "scoreboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parts.h"
#include "pushpull.h"
#include "sim.h"

namespace leeway::bench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> NamesOf(const std::vector<Score>& scores) {
  std::vector<std::string> names;
  for (const Score& score : scores) names.push_back(score.figure);
  return names;
}

TEST(FloorsTest, HoldOnTheRightSide) {
  const Floor* const rate = FindFloor("pushpull.local.64KiB.limit_ratio");
  ASSERT_NE(rate, nullptr);
  EXPECT_TRUE(rate->Holds(0.6));
  EXPECT_FALSE(rate->Holds(0.59));
  const Floor* const time = FindFloor("step.four_workers.over_met");
  ASSERT_NE(time, nullptr);
  EXPECT_TRUE(time->Holds(1.05));
  EXPECT_FALSE(time->Holds(1.06));
}

TEST(FloorsTest, AStarStandsForAnyName) {
  ASSERT_NE(FindFloor("optimizer.adamw.ratio"), nullptr);
  EXPECT_EQ(FindFloor("optimizer.adamw.ratio"), FindFloor("optimizer.lars.ratio"));
  EXPECT_EQ(FindFloor("optimizer..ratio"), nullptr);
  EXPECT_EQ(FindFloor("optimizer.adamw.spread"), nullptr);
}

TEST(FloorsTest, EveryFloorSaysWhyAndIsOfAPart) {
  const std::vector<Part> parts = AllParts(false);
  for (const Floor& floor : Floors()) {
    EXPECT_FALSE(floor.why.empty()) << floor.figure;
    EXPECT_TRUE(std::any_of(parts.begin(), parts.end(), [&](const Part& part) {
      return floor.figure.starts_with(part.name + ".");
    })) << floor.figure;
  }
}

TEST(ScoresTest, OfAStepWhoseWorkersWaitForEachOtherThereIsMore) {
  EXPECT_EQ(NamesOf(*ScoresOf("step.one_worker", R"({"ratio": 1.02})")),
            std::vector<std::string>{"step.one_worker.ratio"});
  const Result<std::vector<Score>> scores =
      ScoresOf("step.four_workers", R"({"ratio": 1.09, "met_ratio": 1.08, "over_met": 1.06})");
  ASSERT_TRUE(scores.ok()) << scores.status().ToString();
  EXPECT_EQ(NamesOf(*scores),
            (std::vector<std::string>{"step.four_workers.ratio", "step.four_workers.met_ratio",
                                      "step.four_workers.over_met"}));
  EXPECT_FALSE(FindFloor("step.four_workers.over_met")->Holds(scores->back().value));
}

TEST(PartsTest, AreChosenByNameOrByItsBeginning) {
  const std::vector<Part> all = AllParts(false);
  const std::string tcp[] = {"pushpull.tcp", "sync"};
  const Result<std::vector<Part>> chosen = ChooseParts(all, tcp);
  ASSERT_TRUE(chosen.ok());
  ASSERT_EQ(chosen->size(), 6U);
  EXPECT_EQ(chosen->front().name, "pushpull.tcp.64B");
  EXPECT_EQ(chosen->back().name, "sync");
  EXPECT_EQ(ChooseParts(all, {})->size(), all.size());
  const std::string slip[] = {"latencies"};
  EXPECT_THAT(ChooseParts(all, slip).status().message(),
              HasSubstr("no part \"latencies\"; known: pushpull, latency,"));
  const std::string half[] = {"push"};
  EXPECT_FALSE(ChooseParts(all, half).ok());
}

TEST(PartsTest, QuickOnesAreTheSameBenches) {
  const std::vector<Part> all = AllParts(false), quick = AllParts(true);
  ASSERT_EQ(all.size(), quick.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].name, quick[i].name);
    EXPECT_EQ(all[i].words[1], "--json") << all[i].name;
  }
}

TEST(ScoreboardTest, TakesTheFiguresOfABench) {
  PushPullReport report;
  report.options = *Complete({.transport = "tcp", .block_bytes = 64});
  report.leeway.pairs_s = 5000;
  report.leeway.spread = 0.25;
  report.ratio.median = 0.7;
  const Result<std::vector<Score>> scores = ScoresOf("pushpull.tcp.64B", ToJson(report));
  ASSERT_TRUE(scores.ok()) << scores.status().ToString();
  EXPECT_THAT(NamesOf(*scores), ElementsAre("pushpull.tcp.64B.pairs_s", "pushpull.tcp.64B.ratio",
                                            "pushpull.tcp.64B.cpu_ratio"));
  EXPECT_EQ((*scores)[0].value, 5000);
  EXPECT_EQ((*scores)[0].spread, 0.25);
  EXPECT_EQ((*scores)[2].good, Bound::kAtMost);
  report.options.block_bytes = 1U << 20;
  EXPECT_THAT(NamesOf(*ScoresOf("pushpull.tcp.1MiB", ToJson(report))),
              ElementsAre("pushpull.tcp.1MiB.gb_s_each_way", "pushpull.tcp.1MiB.ratio",
                          "pushpull.tcp.1MiB.limit_ratio", "pushpull.tcp.1MiB.cpu_s_per_gb_moved",
                          "pushpull.tcp.1MiB.cpu_ratio"));
}

TEST(ScoreboardTest, RowsAreNamedByWhatTheyAre) {
  EXPECT_THAT(
      NamesOf(*ScoresOf(
          "scale",
          R"({"sizes":[{"workers":1,"servers":1,"ratio":1},{"workers":2,"servers":2,"ratio":0.95}]})")),
      ElementsAre("scale.2+2.ratio"));
  EXPECT_THAT(NamesOf(*ScoresOf("optimizer", R"({"optimizers":[{"spec":"adam","ratio":0.9}]})")),
              ElementsAre("optimizer.adam.ratio"));
}

TEST(ScoreboardTest, SaysWhatTheJsonLacks) {
  EXPECT_THAT(ScoresOf("sync", "{}").status().message(), HasSubstr("sync: no number at /ratio_max"));
  EXPECT_THAT(ScoresOf("sync", "oops").status().message(), HasSubstr("got \"oops\", wanted a JSON object"));
  EXPECT_THAT(ScoresOf("scale", "{}").status().message(), HasSubstr("no \"sizes\""));
  EXPECT_THAT(ScoresOf("sail", "{}").status().message(), HasSubstr("sail"));
}

TEST(ScoreboardTest, KnowsTheFiguresOfEveryPart) {
  for (const Part& part : AllParts(false)) {
    EXPECT_NE(ScoresOf(part.name, "{}").status().code(), StatusCode::kNotFound) << part.name;
  }
}

TEST(ScoreboardTest, TakesTheFiguresOfTheSimulator) {
  SimReport report;
  report.rows = {{.workers = 16, .events_s = 900'000, .spread = 0.2, .event_ns = 1111}};
  report.growth = {.median = 1.4, .low = 1.3, .high = 1.6, .spread = 0.3};
  const Result<std::vector<Score>> scores = ScoresOf("sim", ToJson(report));
  ASSERT_TRUE(scores.ok()) << scores.status().ToString();
  ASSERT_THAT(NamesOf(*scores), ElementsAre("sim.events_s", "sim.growth"));
  EXPECT_EQ((*scores)[0].value, 900'000);
  EXPECT_EQ((*scores)[0].spread, 0.2);
  EXPECT_EQ((*scores)[1].value, 1.4);
  EXPECT_EQ((*scores)[1].spread, 0.3);
  EXPECT_EQ((*scores)[1].good, Bound::kAtMost);
}

TEST(ScoreboardTest, ChangesBeyondTheSpreadAreBetterOrWorse) {
  const Score before{"f", 100, 0.1, Bound::kAtLeast};
  EXPECT_EQ(Compare({"f", 109, 0.01, Bound::kAtLeast}, before), Change::kNone);
  EXPECT_EQ(Compare({"f", 112, 0.01, Bound::kAtLeast}, before), Change::kBetter);
  EXPECT_EQ(Compare({"f", 112, 0.2, Bound::kAtLeast}, before), Change::kNone)
      << "this run's spread counts too";
  EXPECT_EQ(Compare({"f", 80, 0.01, Bound::kAtLeast}, before), Change::kWorse);
  const Score low{"f", 100, 0.001, Bound::kAtMost};
  EXPECT_EQ(Compare({"f", 80, 0.001, Bound::kAtMost}, low), Change::kBetter);
  EXPECT_EQ(Compare({"f", 103, 0.001, Bound::kAtMost}, low), Change::kWorse);
  EXPECT_EQ(Compare({"f", 101, 0.001, Bound::kAtMost}, low), Change::kNone) << "2 % are nothing";
  EXPECT_EQ(Compare({"f", 108, 0, Bound::kAtMost}, low), Change::kNone)
      << "no spread known is a spread of 10 %";
  EXPECT_EQ(Compare({"f", 111, 0, Bound::kAtMost}, low), Change::kWorse);
  EXPECT_EQ(Compare({"f", 0, 0, Bound::kAtMost}, low), Change::kNone) << "no ratio to nothing";
}

TEST(ScoreboardTest, WhatIsSavedIsABaseline) {
  ScoreRun run;
  run.scores = {{"pushpull.tcp.1MiB.ratio", 0.95, 0.1, Bound::kAtLeast},
                {"latency.tcp.one_core.p50_us", 20, 0.2, Bound::kAtMost}};
  run.parts = {{"latency.tcp", R"({"a":1})"}};
  run.failures = {{"step", "no \"torch\""}};
  const std::string json = ToJson(run, nullptr);
  EXPECT_THAT(json, HasSubstr(R"("parts":{"latency.tcp":{"a":1}})"));
  EXPECT_THAT(json, HasSubstr(R"("why":"no \"torch\"")"));
  const Result<Baseline> baseline = ReadBaseline(json);
  ASSERT_TRUE(baseline.ok()) << baseline.status().ToString();
  ASSERT_EQ(baseline->size(), 2U);
  EXPECT_EQ(baseline->at("latency.tcp.one_core.p50_us").value, 20);
  EXPECT_EQ(baseline->at("latency.tcp.one_core.p50_us").good, Bound::kAtMost);
  EXPECT_EQ(baseline->at("pushpull.tcp.1MiB.ratio").spread, 0.1);
  EXPECT_THAT(ReadBaseline("[]").status().message(), HasSubstr("leeway bench all --save"));
  EXPECT_THAT(ReadBaseline(R"({"figures":[{"value":1}]})").status().message(), HasSubstr("no figure"));
}

TEST(ScoreboardTest, TheTableSaysWhatPassesAndWhatChanged) {
  ScoreRun run;
  run.scores = {{"pushpull.tcp.1MiB.ratio", 0.95, 0.1, Bound::kAtLeast},
                {"pushpull.tcp.4MiB.ratio", 0.85, 0.1, Bound::kAtLeast},
                {"latency.tcp.one_core.p50_us", 20, 0.2, Bound::kAtMost}};
  const Baseline before = {
      {"pushpull.tcp.1MiB.ratio", {"pushpull.tcp.1MiB.ratio", 0.5, 0.1, Bound::kAtLeast}}};
  const std::string text = ToText(run, &before);
  EXPECT_THAT(text, HasSubstr("1 pass, 1 miss their floor"));
  EXPECT_THAT(text, HasSubstr(">= 0.9  pass"));
  EXPECT_THAT(text, HasSubstr(">= 0.9  missed"));
  EXPECT_THAT(text, HasSubstr("1.90  better"));
  EXPECT_THAT(text, HasSubstr("better than the baseline: pushpull.tcp.1MiB.ratio\n"));
  EXPECT_THAT(text, Not(HasSubstr("worse than")));
  EXPECT_THAT(text, HasSubstr("not measured: pushpull.local.64KiB.limit_ratio"));
  EXPECT_THAT(BelowFloor(run), ElementsAre("pushpull.tcp.4MiB.ratio"));
  run.chosen = true;
  EXPECT_THAT(ToText(run, nullptr), Not(HasSubstr("not measured")));
  EXPECT_THAT(ToText(run, nullptr), Not(HasSubstr("baseline")));
  const Baseline strange = {{"other.figure", run.scores[0]}};
  EXPECT_THAT(ToText(run, &strange),
              HasSubstr("the baseline has none of these figures: nothing was compared"));
  const Baseline same = {{run.scores[0].figure, run.scores[0]}};
  EXPECT_THAT(ToText(run, &same), HasSubstr("of 1 figures that both have none changed"));
}

}  // namespace
}  // namespace leeway::bench
