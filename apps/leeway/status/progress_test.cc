#include "status/progress.h"

#include <gtest/gtest.h>

#include <string>

#include "status/job_status.h"

namespace leeway::app {
namespace {

// Two workers and one server: w0 computes 0.1 s per step, w1 0.4 s.
JobStatus StatusAt(double training_s, double done, double samples, double staleness_sum) {
  JobStatus status;
  status.phase = "running";
  status.training_s = training_s;
  status.pools = {{"p", 200, static_cast<std::uint64_t>(done)}};
  WorkerStatus worker;
  worker.state = "joined";
  worker.iteration = 100;
  worker.figures = {{"samples", samples}, {"compute_s", 10}};
  status.workers.push_back(worker);
  worker.rank = 1;
  worker.iteration = 90;
  worker.figures = {{"samples", 100}, {"compute_s", 36}};
  status.workers.push_back(worker);
  status.shards = {{.figures = {{"staleness_sum", staleness_sum}, {"staleness_gradients", 10 * training_s}}}};
  return status;
}

Progress Halfway() {
  Progress progress(2);
  progress.Add(StatusAt(10, 50, 300, 20), 12);
  progress.Add(StatusAt(20, 100, 1300, 150), 22);
  return progress;
}

TEST(ProgressTest, TheBarShowsShareTimeLeftRateSlowestAndStaleness) {
  EXPECT_EQ(Halfway().Bar(22, 119),
            "[============>           ]   50%  0:20 left  step 90  100 samples/s  slowest w1 4.0x  "
            "staleness 1.3  0:22");
}

TEST(ProgressTest, ANarrowBarLeavesOutWhatMattersLeast) {
  EXPECT_EQ(Halfway().Bar(22, 79),
            "[======>      ]   50%  0:20 left  100 samples/s  slowest w1 4.0x  staleness 1.3");
  EXPECT_EQ(Halfway().Bar(22, 60), "[====>    ]   50%  0:20 left  100 samples/s  slowest w1 4.0x");
  EXPECT_EQ(Halfway().Bar(22, 10), "[====>   ]   50%  0:20 left  100 samples/s");
}

TEST(ProgressTest, ALineOfALogSaysTheSame) {
  EXPECT_EQ(Halfway().Line(22),
            "22 s  50%  0:20 left  step 90  100 samples/s  slowest w1 4.0x  staleness 1.3");
}

TEST(ProgressTest, StalenessIsThatOfTheLastGradientsAndNotShownWhereThereIsNone) {
  Progress progress(2);
  progress.Add(StatusAt(10, 50, 300, 1000), 10);
  EXPECT_EQ(progress.staleness(), 10);
  progress.Add(StatusAt(20, 100, 300, 1000), 20);
  EXPECT_EQ(progress.staleness(), 0);
  EXPECT_EQ(progress.Line(20).find("staleness"), std::string::npos);
}

TEST(ProgressTest, OneStatusAloneGivesTheRateOverAllOfTraining) {
  Progress progress(2);
  progress.Add(StatusAt(10, 50, 300, 0), 1000);
  EXPECT_EQ(progress.SamplesPerSecond(), 40);
}

TEST(ProgressTest, WithoutAPoolThereIsNoBar) {
  Progress progress(2);
  JobStatus status = StatusAt(10, 0, 300, 0);
  status.pools.clear();
  progress.Add(status, 10);
  EXPECT_EQ(progress.Bar(10, 79), "step 90  40 samples/s  slowest w1 4.0x  0:10");
}

TEST(ProgressTest, BeforeTheJobRunsItSaysSo) {
  Progress progress(2);
  EXPECT_EQ(progress.Bar(0, 79), "starting  0:00");
  progress.Add(*ParseJobStatus(R"({"phase":"gathering","workers":[{"rank":0,"state":"joined"}]})"), 1);
  EXPECT_EQ(progress.Bar(1, 79), "gathering: 1 of 2 workers  0:01");
}

TEST(PaceTest, AWorkerThatStandsInAStepIsTheSlowest) {
  Pace pace;
  JobStatus status = StatusAt(10, 50, 300, 0);
  pace.Add(status, 10);
  EXPECT_EQ(ToText(*pace.slowest()), "w1 4.0x");
  status.workers[0].now.computing_s = 0.9;
  pace.Add(status, 11);
  EXPECT_EQ(ToText(*pace.slowest()), "w1 4.0x") << "a second may be a hiccup";
  status.workers[0].now.computing_s = 12;
  pace.Add(status, 23);
  EXPECT_EQ(ToText(*pace.slowest()), "w0 12 s in a step");
}

TEST(PaceTest, WhatCountsIsThePaceOfTheLastSeconds) {
  Pace pace;
  JobStatus status = StatusAt(10, 50, 300, 0);
  pace.Add(status, 10);
  status.workers[0].iteration += 10;
  status.workers[0].figures["compute_s"] += 20;
  status.workers[1].iteration += 10;
  status.workers[1].figures["compute_s"] += 1;
  pace.Add(status, 11);
  EXPECT_EQ(pace.StepSeconds(0), 2);
  EXPECT_EQ(ToText(*pace.slowest()), "w0 20.0x");
}

TEST(PaceTest, WithoutFiguresTheOneFurthestBehindIsNamed) {
  JobStatus status = StatusAt(10, 50, 300, 0);
  for (WorkerStatus& worker : status.workers) worker.figures.clear();
  Pace pace;
  pace.Add(status, 10);
  EXPECT_EQ(ToText(*pace.slowest()), "w1 10 steps behind");
  status.workers[1].state = "left";
  pace.Add(status, 11);
  EXPECT_FALSE(pace.slowest()) << "one alone is not slow";
}

}  // namespace
}  // namespace leeway::app
