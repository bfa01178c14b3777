#include "scenario/run_scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

#include "base/testing/temp_folder.h"

namespace leeway::scenario {
namespace {

using ::testing::HasSubstr;

Scenario Small() {
  Scenario scenario;
  scenario.job.workers = 4;
  scenario.job.servers = 2;
  scenario.job.sync = "ssp:2";
  scenario.problem = "quadratic:dimensions=100";
  scenario.iterations = 20;
  scenario.compute.spread = 0.2;
  scenario.recording.judge_every = 5;
  scenario.recording.timeline_s = 100;
  return scenario;
}

RunRecord RunOk(const Scenario& scenario, std::uint64_t seed = 1) {
  Result<RunRecord> record = RunScenario(scenario, problem::BuiltinProblems(), seed);
  EXPECT_TRUE(record.ok()) << record.status().ToString();
  if (!record.ok()) return {};
  EXPECT_THAT(record->errors, ::testing::IsEmpty());
  return *record;
}

TEST(RunScenarioTest, TrainsToTheEnd) {
  const RunRecord record = RunOk(Small());
  EXPECT_EQ(record.iterations, 80U);
  EXPECT_GT(record.seconds, 1.9);
  EXPECT_LT(record.seconds, 4.0);
  EXPECT_LT(record.loss, record.curve.front().loss / 2);
  EXPECT_EQ(record.timeline.size(), 80U);
  EXPECT_EQ(record.applied, 4 * 20 * 4U);  // four tables
}

TEST(RunScenarioTest, TheSameSeedGivesTheSameRun) {
  const RunRecord a = RunOk(Small(), 7), b = RunOk(Small(), 7), c = RunOk(Small(), 8);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(a.events, b.events);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.wait_bins, b.wait_bins);
  EXPECT_EQ(a.answer_bins, b.answer_bins);
  EXPECT_EQ(a.server_bytes, b.server_bytes);
  const auto spans = [](const RunRecord& record) {
    std::vector<double> times;
    for (const IterationSpan& span : record.timeline) {
      for (const double at : {span.asked_s, span.began_s, span.ended_s}) times.push_back(at);
    }
    return times;
  };
  EXPECT_EQ(spans(a), spans(b));
  EXPECT_NE(a.seconds, c.seconds);
  EXPECT_NE(a.loss, c.loss);
}

// A case that anyone can compute: without spread and with a free network, an iteration is its compute time.
TEST(RunScenarioTest, ComputeAloneTakesItsTime) {
  Scenario scenario = Small();
  scenario.compute.spread = 0;
  scenario.links.latency_s = 0;
  scenario.links.worker_bytes_per_second = scenario.links.server_bytes_per_second = 1e15;
  const RunRecord record = RunOk(scenario);
  EXPECT_NEAR(record.seconds, 20 * 0.1, 1e-6);
  EXPECT_NEAR(record.compute_s, 2.0, 1e-6);
  EXPECT_NEAR(record.wait_s, 0.0, 1e-6);
}

// One worker, one server, sizes only: an iteration is compute and the push of all bytes, with the pull of
// each block behind its push; without overlap the pull of all bytes comes after it.
TEST(RunScenarioTest, TheLinkTakesTheTimeOfItsBytes) {
  Scenario scenario;
  scenario.job.sync = "bsp";
  scenario.problem = "ghost:alexnet,grain=65536";
  scenario.iterations = 5;
  scenario.compute.base_s = 1;
  scenario.links.latency_s = 0;
  scenario.links.worker_bytes_per_second = scenario.links.server_bytes_per_second = 1e9;
  const RunRecord record = RunOk(scenario);
  const double model_s = record.server_bytes[0] / 1e9;
  EXPECT_NEAR(record.server_bytes[0], 4 * 61'100'840.0, 0.02 * 4 * 61'100'840.0);
  // The last pull is after the last gradient.
  const double block_s = 4.2e6 / 1e9;
  EXPECT_NEAR(record.seconds, 5 * 1.0 + 4 * (model_s + block_s), 4 * 1.5 * block_s);
  scenario.job.overlap = false;
  EXPECT_NEAR(RunOk(scenario).seconds, 5 * 1.0 + 4 * 2 * model_s, 0.01 * record.seconds);
}

// A worker and its server on one machine: nothing passes the card. With two machines each, half of the bytes
// pass a card, and in each direction those of a worker and of a server.
TEST(RunScenarioTest, AWorkerAndAServerShareTheCardOfTheirMachine) {
  Scenario scenario;
  scenario.together = true;
  scenario.job.sync = "bsp";
  scenario.job.overlap = false;
  scenario.problem = "ghost:alexnet,grain=65536";
  scenario.iterations = 5;
  scenario.compute.base_s = 1;
  scenario.links.latency_s = 0;
  scenario.links.worker_bytes_per_second = scenario.links.server_bytes_per_second = 1e9;
  EXPECT_NEAR(RunOk(scenario).seconds, 5 * 1.0, 1e-3);
  scenario.job.workers = scenario.job.servers = 2;
  const RunRecord shared = RunOk(scenario);
  const double half_s = (shared.server_bytes[0] + shared.server_bytes[1]) / 2 / 1e9;
  // Each card sends the gradients of its worker for the other server, and then the answers of its server to
  // the other worker.
  EXPECT_NEAR(shared.seconds, 5 * 1.0 + 4 * 2 * half_s, 0.02 * shared.seconds);
  // Half of the workers have no partner: all of their bytes pass.
  scenario.job.workers = 4;
  EXPECT_GT(RunOk(scenario).seconds, shared.seconds + 4 * half_s);
}

// The same without its last iteration, whose pushes are on their way at the end: all bytes pass the server's
// card both ways four times.
TEST(RunScenarioTest, AServersLoadIsThatOfTheBytes) {
  Scenario scenario;
  scenario.job.sync = "bsp";
  scenario.problem = "ghost:alexnet,grain=65536";
  scenario.iterations = 5;
  scenario.compute.base_s = 1;
  scenario.links.latency_s = 0;
  scenario.links.worker_bytes_per_second = scenario.links.server_bytes_per_second = 1e9;
  scenario.server.per_byte_s = 1e-10;
  // Else the verdict on the last initial values passes the answers with initial values, and these count too.
  scenario.job.priorities = false;
  const RunRecord record = RunOk(scenario);
  ASSERT_EQ(record.servers.size(), 1U);
  const ServerLoad& server = record.servers[0];
  const double bytes = 4 * record.server_bytes[0];
  EXPECT_NEAR(server.bytes_in, bytes, 1e-3 * bytes);
  EXPECT_NEAR(server.bytes_out, bytes, 1e-3 * bytes);
  EXPECT_NEAR(server.link_in_busy, bytes * 1e-9 / record.seconds, 1e-3);
  EXPECT_NEAR(server.link_out_busy, bytes * 1e-9 / record.seconds, 1e-3);
  EXPECT_NEAR(server.processor_busy, 2 * bytes * 1e-10 / record.seconds, 1e-3);
  // All pushes are ready at once, so the last of them waits for nearly all the others.
  EXPECT_NEAR(server.queued_max_s, bytes * 1e-9 / 4, 0.01);
  EXPECT_NEAR(record.pace.beyond_compute_s, (record.seconds - 5) / 4, 1e-3);
  EXPECT_NEAR(record.pace.communication_s, record.pace.beyond_compute_s, 1e-9) << "one worker";
}

// Table "second" is on a server that takes 0.5 s for a push and its answer, from 1/3 before the end of the
// backward pass on. A forward pass of two tables needs it 1/6 after its own beginning: just then it comes.
TEST(RunScenarioTest, AForwardPassTableByTableHidesWhatComesLate) {
  const leeway::testing::TempFolder folder;
  const std::string layers = folder.PathOf("two.layers");
  std::ofstream(layers) << "first 1000000 7\nsecond 1000000 7\n";
  Scenario scenario;
  scenario.job.servers = 2;
  scenario.job.sync = "bsp";
  scenario.job.placement = "round_robin";
  scenario.job.block_bytes = 4'000'000;
  scenario.problem = "ghost:" + layers + ",grain=1000";
  scenario.iterations = 21;
  scenario.compute.base_s = 1;
  scenario.compute.backward_share = 2.0 / 3;
  scenario.links.latency_s = 0;
  scenario.links.worker_bytes_per_second = scenario.links.server_bytes_per_second = 1e12;
  scenario.server.per_byte_s = 1e-10;
  scenario.server.factors = {{1, 620.0}};
  // The first iteration waits for an answer alone: half of that time.
  EXPECT_NEAR(RunOk(scenario).seconds, 21 + 20 * (0.496 - 1.0 / 3) + 0.248, 0.02);
  scenario.compute.forward_share = 1.0 / 3;
  EXPECT_NEAR(RunOk(scenario).seconds, 21 + (0.248 - 1.0 / 6), 0.02);
  scenario.server.factors = {{1, 870.0}};
  EXPECT_NEAR(RunOk(scenario).seconds, 21 + 20 * (0.696 - 0.5) + (0.348 - 1.0 / 6), 0.02);
}

TEST(RunScenarioTest, PartialPullSkipsBlocksWhoseAnswersAreLate) {
  Scenario scenario = Small();
  scenario.job.sync = "bsp";
  scenario.iterations = 100;
  scenario.answer_delay = {.chance = 0.01, .seconds = 0.3};
  const RunRecord full = RunOk(scenario);
  EXPECT_EQ(full.skipped_blocks + full.late_pulls, 0U);
  scenario.job.pull = "partial:0.5,0,skip_max=1000";
  const RunRecord partial = RunOk(scenario);
  EXPECT_GT(partial.skipped_blocks, 0U);
  EXPECT_GT(partial.late_pulls, 0U);
  EXPECT_LT(partial.seconds, full.seconds);
  EXPECT_EQ(partial.withdrawn, 0U);
  EXPECT_EQ(partial.applied, full.applied);
}

// A slow server has answers left for a worker that asks it for newer ones already. Every push counts all the
// same.
TEST(RunScenarioTest, AnswersThatAWorkerDoesNotWantAnyMoreAreWithdrawn) {
  Scenario scenario;
  scenario.job.workers = 2;
  scenario.job.servers = 2;
  scenario.job.sync = "asp";
  scenario.problem = "ghost:resnet50,grain=65536";
  scenario.iterations = 20;
  scenario.compute.base_s = 0.1;
  scenario.links.worker_bytes_per_second = scenario.links.server_bytes_per_second = 2.5e9;
  scenario.server.per_byte_s = 1e-10;
  scenario.server.factors = {{0, 40.0}};
  scenario.job.pull = "partial:0.4,0,skip_max=1000,late_pull=drop";
  const RunRecord dropped = RunOk(scenario);
  EXPECT_GT(dropped.late_pulls, 0U);
  EXPECT_EQ(dropped.withdrawn, 0U);
  scenario.job.pull = "partial:0.4,0,skip_max=1000,late_pull=withdraw";
  const RunRecord withdrawn = RunOk(scenario);
  EXPECT_GT(withdrawn.withdrawn, 0U);
  EXPECT_GT(withdrawn.skipped_blocks, 0U);
  EXPECT_LT(withdrawn.late_pulls, dropped.late_pulls);
  EXPECT_EQ(withdrawn.applied, dropped.applied);
  EXPECT_EQ(withdrawn.iterations, 40U);
}

// Two workers push 4 blocks of 400 kB each to one server, whose link takes 0.5 s for a block of both, in each
// direction. Block by block the answers to one block leave while the next one comes in: 4 times 0.5 s, and
// 0.5 s for the last answers. In one part, or with a barrier, all pushes come before all answers: 2 s and 2
// s.
TEST(RunScenarioTest, BothDirectionsAreUnderWayAtOnceBlockByBlock) {
  Scenario scenario;
  scenario.job.workers = 2;
  scenario.job.servers = 1;
  scenario.job.sync = "bsp";
  scenario.job.block_bytes = 400'000;
  scenario.problem = "quadratic:dimensions=400000";  // four tables
  scenario.iterations = 3;
  scenario.compute.base_s = 1;
  scenario.links.latency_s = 0;
  scenario.links.worker_bytes_per_second = 1e15;
  scenario.links.server_bytes_per_second = 1.6e6;
  const auto seconds_with = [&](std::uint32_t flush_bytes, bool overlap) {
    scenario.job.flush_bytes = flush_bytes;
    scenario.job.overlap = overlap;
    return RunOk(scenario).seconds;
  };
  // The last iteration ends with its computing.
  constexpr double kHeaders = 0.01;
  EXPECT_NEAR(seconds_with(1, true), 3 * 1.0 + 2 * 2.5, kHeaders);
  EXPECT_NEAR(seconds_with(2'000'000, true), 3 * 1.0 + 2 * 4.0, kHeaders);
  EXPECT_NEAR(seconds_with(1, false), 3 * 1.0 + 2 * 4.0, kHeaders);
}

// Communication is the bottleneck. Backward has the gradients of the last layers first, and the next forward
// pass needs the values of the first layers first.
TEST(RunScenarioTest, WithPrioritiesTheFirstLayersValuesComeSooner) {
  Scenario scenario;
  scenario.job.workers = 2;
  scenario.job.servers = 2;
  scenario.job.sync = "bsp";
  scenario.problem = "ghost:vgg16,grain=65536";
  scenario.iterations = 8;
  scenario.compute.base_s = 0.2;
  scenario.links.worker_bytes_per_second = scenario.links.server_bytes_per_second = 1e9;
  scenario.recording.timeline_s = 1e6;
  const auto first_layer_s = [&](bool priorities) {
    scenario.job.priorities = priorities;
    double sum = 0;
    int count = 0;
    for (const IterationSpan& span : RunOk(scenario).timeline) {
      if (span.iteration < 2) continue;  // the order is not learned yet
      sum += span.first_s - span.asked_s;
      ++count;
    }
    return sum / count;
  };
  const double with = first_layer_s(true), without = first_layer_s(false);
  EXPECT_GT(without, 0.1) << "communication is the bottleneck";
  EXPECT_LT(with, 0.7 * without);
}

// Blocks by need are those of the model, not of the few elements that stand for it.
TEST(RunScenarioTest, ByDefaultAModelIsSpreadEvenly) {
  Scenario scenario;
  scenario.job.servers = 4;
  scenario.problem = "ghost:googlenet,grain=256";
  scenario.iterations = 1;
  const RunRecord record = RunOk(scenario);
  ASSERT_EQ(record.server_bytes.size(), 4U);
  const auto [least, most] = std::ranges::minmax(record.server_bytes);
  EXPECT_LT(most, 1.05 * least);
}

// The slowest worker sets the pace of bsp; asp waits for nobody.
TEST(RunScenarioTest, AStragglerHoldsUpBspAndNotAsp) {
  Scenario scenario = Small();
  scenario.compute.spread = 0;
  scenario.compute.factors = {{3, 4.0}};
  scenario.job.sync = "bsp";
  const RunRecord bsp = RunOk(scenario);
  EXPECT_NEAR(bsp.seconds, 20 * 0.4, 0.1);
  EXPECT_NEAR(bsp.wait_s, 0.75 * 19 * 0.3, 0.1);  // it need not wait after its last
  EXPECT_GT(bsp.dprs, 0);
  scenario.job.sync = "asp";
  const RunRecord asp = RunOk(scenario);
  EXPECT_LT(asp.wait_s, 0.1);
  EXPECT_EQ(asp.dprs, 0);
  EXPECT_GT(asp.lead, 0);
}

TEST(RunScenarioTest, AServerThatIsSlowIsTheBottleneck) {
  Scenario scenario = Small();
  scenario.compute.spread = 0;
  scenario.compute.base_s = 0.001;
  scenario.server.per_message_s = 0.01;
  const double even = RunOk(scenario).seconds;
  scenario.server.factors = {{1, 5.0}};
  EXPECT_NEAR(RunOk(scenario).seconds / even, 5.0, 0.5);
}

TEST(RunScenarioTest, AnswersThatAreLateHoldUpWhoWaitsForThem) {
  Scenario scenario = Small();
  scenario.job.sync = "bsp";
  const double calm = RunOk(scenario).seconds;
  scenario.answer_delay = {.chance = 0.02, .seconds = 4};
  EXPECT_GT(RunOk(scenario).seconds, calm + 3.9);
}

TEST(RunScenarioTest, TheCurveGoesOnWhenRank0HasFinished) {
  Scenario scenario = Small();
  scenario.job.sync = "asp";
  scenario.compute.factors = {{3, 4.0}};
  const RunRecord record = RunOk(scenario);
  const double rank0_ended = record.workers[0].ended_s;
  ASSERT_LT(rank0_ended, record.seconds / 2);
  const auto later = [&](const CurvePoint& point) { return point.seconds > rank0_ended + 0.2; };
  EXPECT_GE(std::ranges::count_if(record.curve, later), 2) << "one of them is that of the end";
  for (std::size_t i = 1; i < record.curve.size(); ++i)
    EXPECT_GT(record.curve[i].iteration, record.curve[i - 1].iteration);
}

TEST(RunScenarioTest, GradientsThatAreReadyEarlyHideTheirCommunication) {
  Scenario scenario = Small();
  scenario.compute.spread = 0;
  EXPECT_NEAR(RunOk(scenario).overlap, 0, 1e-9) << "all are ready when the computing ends";
  scenario.compute.backward_share = 0.9;
  const double overlap = RunOk(scenario).overlap;
  EXPECT_GT(overlap, 0.5);
  EXPECT_LT(overlap, 1) << "the first table's gradient is the last one, and is waited for";
}

TEST(RunScenarioTest, WorkersHaveTheirOwnTimes) {
  Scenario scenario = Small();
  scenario.compute.spread = 0;
  scenario.compute.factors = {{3, 4.0}};
  const RunRecord record = RunOk(scenario);
  ASSERT_EQ(record.workers.size(), 4U);
  EXPECT_NEAR(record.workers[3].compute_s, 4 * record.workers[0].compute_s, 1e-6);
  EXPECT_GT(record.workers[0].wait_s, record.workers[3].wait_s);
  EXPECT_EQ(record.workers[0].iterations, 20U);
  double compute = 0;
  for (const WorkerTimes& worker : record.workers) compute += worker.compute_s / 4;
  EXPECT_NEAR(compute, record.compute_s, 1e-6);
}

TEST(RunScenarioTest, MessagesToASlowServerTakeLonger) {
  Scenario scenario = Small();
  scenario.server.per_message_s = 1e-3;
  scenario.server.factors = {{1, 10.0}};
  const RunRecord record = RunOk(scenario);
  ASSERT_EQ(record.server_message_s.size(), 2U);
  EXPECT_GT(record.server_message_s[0], 1e-3);
  EXPECT_GT(record.server_message_s[1], 5 * record.server_message_s[0]);
}

TEST(RunScenarioTest, AJobThatTakesTooLongIsStopped) {
  Scenario scenario = Small();
  scenario.seconds_max = 0.5;
  const Result<RunRecord> record = RunScenario(scenario, problem::BuiltinProblems(), 1);
  ASSERT_TRUE(record.ok());
  ASSERT_EQ(record->errors.size(), 1U);
  EXPECT_THAT(record->errors[0], HasSubstr("0.5 simulated seconds"));
}

TEST(RunScenarioTest, WhatCannotRunIsAnError) {
  Scenario scenario = Small();
  scenario.problem = "quadratc";
  EXPECT_FALSE(RunScenario(scenario, problem::BuiltinProblems(), 1).ok());
  scenario = Small();
  scenario.job.sync = "sps:2";
  const Result<RunRecord> record = RunScenario(scenario, problem::BuiltinProblems(), 1);
  ASSERT_TRUE(record.ok());
  ASSERT_FALSE(record->errors.empty());
  EXPECT_TRUE(std::isnan(record->loss)) << "it has none";
  EXPECT_TRUE(record->curve.empty());
}

// Iteration 17 wants one push more than there are workers.
TEST(RunScenarioTest, AJobThatStandsStillForeverIsFoundOut) {
  Scenario scenario = Small();
  scenario.job.sync = R"f(when:pull="progress < v_train",push="count >= workers + (v_train == 17)")f";
  const Result<RunRecord> record = RunScenario(scenario, problem::BuiltinProblems(), 1);
  ASSERT_TRUE(record.ok());
  ASSERT_FALSE(record->errors.empty());
  EXPECT_THAT(record->errors[0], ::testing::HasSubstr("nobody moves any more"));
}

TEST(RunScenarioTest, FiguresPerIterationOfAPoolAreOfWhatWasDrawn) {
  Scenario scenario = Small();
  scenario.pool = 400;
  const RunRecord record = RunOk(scenario);
  EXPECT_NEAR(record.seconds_per_100, record.seconds * 100 / (400.0 / scenario.job.workers), 1e-9);
}

// More than may be half open at once: those that are turned away come again.
TEST(RunScenarioTest, ManyWorkersComeAtOnceOverSlowLinks) {
  Scenario scenario = Small();
  scenario.job.workers = 600;
  scenario.iterations = 1;
  scenario.links.latency_s = 0.02;
  const RunRecord record = RunOk(scenario);
  EXPECT_EQ(record.iterations, 600U);
}

TEST(RunScenarioTest, ProgressCanStopIt) {
  int looks = 0;
  Scenario scenario = Small();
  scenario.iterations = 2000;
  const Result<RunRecord> record = RunScenario(scenario, problem::BuiltinProblems(), 1,
                                               [&looks](const RunProgress&) { return ++looks < 3; });
  ASSERT_TRUE(record.ok());
  EXPECT_THAT(record->errors, ::testing::ElementsAre("stopped"));
  EXPECT_EQ(looks, 3);
}

// The first values that arrive are taken, whoever offers them.
TEST(RunScenarioTest, BeginsWithTheProblemsValuesHoweverManyWorkersThereAre) {
  Scenario alone = Small();
  alone.job.workers = 1;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Result<RunRecord> many = RunScenario(Small(), problem::BuiltinProblems(), seed);
    const Result<RunRecord> one = RunScenario(alone, problem::BuiltinProblems(), seed);
    ASSERT_TRUE(many.ok() && one.ok());
    EXPECT_EQ(many->curve.front().loss, one->curve.front().loss) << "seed " << seed;
  }
}

TEST(RunScenarioTest, WaitsAreInBinsThatAddUpToOne) {
  const Result<RunRecord> record = RunScenario(Small(), problem::BuiltinProblems(), 1);
  ASSERT_TRUE(record.ok());
  for (const std::vector<double>& bins : {record->wait_bins, record->answer_bins}) {
    EXPECT_NEAR(std::reduce(bins.begin(), bins.end()), 1, 1e-9);
  }
  EXPECT_EQ(TimeBinOf(0), 0U);
  EXPECT_EQ(TimeBinOf(1e9), kTimeBins - 1);
  EXPECT_EQ(TimeBinOf(TimeBinMiddle(20)), 20U);
}

TEST(RunScenarioTest, AsManyAnswersAreLateAsTheScenarioSays) {
  Scenario scenario = Small();
  scenario.job.sync = "asp";
  scenario.iterations = 400;
  scenario.answer_delay = {.chance = 0.05, .seconds = 3};
  const Result<RunRecord> record = RunScenario(scenario, problem::BuiltinProblems(), 1);
  ASSERT_TRUE(record.ok() && record->errors.empty());
  const auto late = record->answer_bins.begin() + static_cast<std::ptrdiff_t>(TimeBinOf(2.9));
  EXPECT_NEAR(std::reduce(late, record->answer_bins.end()), 0.05, 0.01);
}

TEST(RunScenarioTest, ALargerBatchTakesLonger) {
  Scenario scenario = Small();
  scenario.compute.base_s = 0.01;
  scenario.compute.per_sample_s = 0.01;
  scenario.compute.spread = 0;
  scenario.problem = "quadratic:dimensions=100,batch=9";
  const Result<RunRecord> record = RunScenario(scenario, problem::BuiltinProblems(), 1);
  ASSERT_TRUE(record.ok());
  EXPECT_NEAR(record->compute_s, 20 * 0.1, 1e-6);
}

}  // namespace
}  // namespace leeway::scenario
