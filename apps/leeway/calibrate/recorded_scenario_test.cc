#include "calibrate/recorded_scenario.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "scenario/run_scenario.h"

namespace leeway::app {
namespace {

// A run that is simulated, in place of a real one: four workers on a machine with a core for each.
scenario::Scenario Truth() {
  scenario::Scenario truth;
  truth.job.workers = 4;
  truth.job.servers = 2;
  truth.job.block_bytes = 4096;
  truth.problem = "quadratic:dimensions=10000";
  truth.iterations = 200;
  truth.compute.base_s = 0.02;
  truth.compute.spread = 0.2;
  truth.compute.heterogeneity = 0.2;
  truth.links = {.latency_s = 2e-5, .worker_bytes_per_second = 1e8, .server_bytes_per_second = 4e8};
  truth.server.per_message_s = 1e-5;
  truth.recording.timeline_s = 1e6;
  return truth;
}

scenario::RunRecord Simulated(const scenario::Scenario& scenario,
                              const Registry<problem::Problem>& problems) {
  const Result<scenario::RunRecord> run = scenario::RunScenario(scenario, problems, 7);
  EXPECT_TRUE(run.ok()) << run.status().ToString();
  EXPECT_TRUE(run->errors.empty()) << run->errors[0];
  return *run;
}

// The record that a recorder would make of the run.
JobRecord RecordOf(const scenario::Scenario& truth, const scenario::RunRecord& run) {
  JobRecord record;
  record.job = truth.job;
  record.tables = {{"x", 10'000, 1.0}};
  record.workers.resize(truth.job.workers);
  for (const scenario::IterationSpan& span : run.timeline)
    record.workers[span.rank].cpu_s_quantiles.push_back(span.ended_s - span.began_s);
  for (RecordedWorker& worker : record.workers) {
    std::ranges::sort(worker.cpu_s_quantiles);
    worker.iterations = worker.cpu_s_quantiles.size();
    for (const double seconds : worker.cpu_s_quantiles)
      worker.cpu_s += seconds / static_cast<double>(worker.iterations);
    record.iterations += worker.iterations;
  }
  record.host.cores = truth.job.workers + truth.job.servers;
  record.costs = {.latency_s = truth.links.latency_s,
                  .bytes_per_second = truth.links.worker_bytes_per_second,
                  .per_message_s = truth.server.per_message_s,
                  .per_byte_s = 0};
  record.seconds = run.seconds;
  return record;
}

TEST(RecordedScenarioTest, ARecordPredictsItsOwnRun) {
  const scenario::RunRecord run = Simulated(Truth(), problem::BuiltinProblems());
  const JobRecord record = RecordOf(Truth(), run);
  const scenario::RunRecord predicted = Simulated(ScenarioOf(record, "again"), ProblemsWith(record));
  EXPECT_EQ(predicted.iterations, run.iterations);
  EXPECT_NEAR(predicted.seconds / run.seconds, 1.0, 0.03);
  EXPECT_NEAR(predicted.wait_s / run.wait_s, 1.0, 0.1);
  EXPECT_NEAR(predicted.bytes / run.bytes, 1.0, 0.02);
}

TEST(RecordedScenarioTest, TheRecordOfABspRunPredictsAnotherModel) {
  const JobRecord record = RecordOf(Truth(), Simulated(Truth(), problem::BuiltinProblems()));
  scenario::Scenario truth = Truth();
  truth.job.sync = "ssp:3";
  scenario::Scenario prediction = ScenarioOf(record, "ssp");
  prediction.job.sync = "ssp:3";
  const double measured = Simulated(truth, problem::BuiltinProblems()).seconds;
  EXPECT_NEAR(Simulated(prediction, ProblemsWith(record)).seconds / measured, 1.0, 0.03);
}

TEST(RecordedScenarioTest, AGrainIsNeverCutToNothing) {
  JobRecord record;
  record.tables = {{"x", 4'000'000ULL * 0xFFFF'FFFF, 1.0}};  // 2^32 would be the grain
  const Result<problem::ProblemPtr> made = ProblemsWith(record).MakeFromSpec(kRecordedProblem);
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  EXPECT_EQ((*made)->grain(), 0xFFFF'FFFFU);
  EXPECT_EQ((*made)->tables()[0].shape, std::vector<std::int64_t>{4'000'000});
}

TEST(RecordedScenarioTest, MoreWorkersThanWereRecordedAreLikeThose) {
  const JobRecord record = RecordOf(Truth(), Simulated(Truth(), problem::BuiltinProblems()));
  scenario::Scenario wider = ScenarioOf(record, "wider");
  wider.job.workers = 6;
  EXPECT_EQ(Simulated(wider, ProblemsWith(record)).iterations, 1200U);
}

}  // namespace
}  // namespace leeway::app
