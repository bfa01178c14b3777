#include "simulate/study_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulate/testing/made_study.h"

namespace leeway::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MadeRun;
using testing::MadeStudy;
using ::testing::Not;
using testing::RunThatNeverBegan;

std::vector<std::string> Verdict(const scenario::Study& study) {
  return VerdictOf(study, {}, CommonLevelOf(study));
}

TEST(StudyVerdictTest, ThreeSentencesSayWhatCameOut) {
  const auto study =
      MadeStudy({{"bsp", {MadeRun(20, 6), MadeRun(22, 6)}}, {"asp", {MadeRun(10, 0), MadeRun(11, 0)}}});
  EXPECT_THAT(Verdict(study), ElementsAre("Compared: bsp and asp, with 2 workers and 1 server on mlp, 20 "
                                          "iterations of every worker, seeds 1 to 2.",
                                          "asp is the first to accuracy 0.9, after 10.5 s; bsp takes 2 times "
                                          "as long (21 s). asp is the first to the "
                                          "end of all iterations, after 10.5 s; bsp takes 2 times as long "
                                          "(21 s). Every worker does the same 20 "
                                          "iterations, and worker 1 alone computes for 8 s: the end is when "
                                          "the slowest machine is done, whichever "
                                          "model lets the others go on.",
                                          "Worker 1 takes 4 times as long for a gradient as the median of "
                                          "the others, and these wait for 75 % of "
                                          "their time under bsp and 0 % under asp."));
}

TEST(StudyVerdictTest, OneRunAlone) {
  const auto verdict = Verdict(MadeStudy({{"ssp:3", {MadeRun(20)}}}));
  ASSERT_EQ(verdict.size(), 3U);
  EXPECT_EQ(
      verdict[0],
      "One job was simulated: ssp:3, 2 workers and 1 server on mlp, 20 iterations of every worker, seed 1.");
  EXPECT_EQ(verdict[1], "It reaches accuracy 0.9 after 20 s and ends after 20 s of simulated time.");
}

TEST(StudyVerdictTest, WhatASweepChangesIsNotSaidOfAllCells) {
  auto study = MadeStudy({{"bsp", {MadeRun(20)}}, {"asp", {MadeRun(10)}}});
  study.cells[1].scenario.job.workers = 8;
  study.cells[1].scenario.iterations = 40;
  const auto verdict = Verdict(study);
  EXPECT_EQ(verdict[0], "Compared: bsp and asp, with 1 server on mlp, seed 1.");
  EXPECT_THAT(verdict[1], Not(HasSubstr("Every worker does the same")));
  study.cells[1].scenario.job.servers = 2;
  study.cells[0].scenario.pool = study.cells[1].scenario.pool = 60;
  EXPECT_EQ(Verdict(study)[0],
            "Compared: bsp and asp, with training on mlp, 60 iterations that the workers share, seed 1.");
}

TEST(StudyVerdictTest, ASlowWorkerIsTheReasonForTheEndOnlyIfItComputesNearlyAllTheTime) {
  EXPECT_THAT(Verdict(MadeStudy({{"asp", {MadeRun(10)}}}))[1], HasSubstr("worker 1 alone computes for 8 s"));
  EXPECT_THAT(Verdict(MadeStudy({{"asp", {MadeRun(15)}}}))[1], Not(HasSubstr("alone computes")));
}

TEST(StudyVerdictTest, ASlowServerIsNamed) {
  scenario::RunRecord run = MadeRun(20);
  run.server_message_s = {0.001, 0.001, 0.008, 0.001};
  EXPECT_THAT(
      Verdict(MadeStudy({{"bsp", {run}}}))[2],
      HasSubstr("Server 2 is the slow one: a worker's message takes 8 ms there, 1 ms at the others."));
  run.server_message_s = {0.001, 0.001, 0.0013, 0.001};
  EXPECT_THAT(Verdict(MadeStudy({{"bsp", {run}}}))[2], Not(HasSubstr("Server")));
}

TEST(StudyVerdictTest, RunsThatDidNotEndWellDecideNothing) {
  EXPECT_EQ(Verdict(MadeStudy({{"bsp", {RunThatNeverBegan()}}}))[1], "No run ended well.");
  const auto both = Verdict(MadeStudy({{"bsp", {MadeRun(20)}}, {"asp", {RunThatNeverBegan()}}}));
  EXPECT_THAT(both[1],
              HasSubstr("bsp is the first to the end of all iterations, after 20 s; asp never gets there"));
}

}  // namespace
}  // namespace leeway::app
