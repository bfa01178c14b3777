// leeway::Worker against a whole job on loopback: one worker, one server, real threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "base/errors.h"
#include "leeway/worker.h"
#include "process/local_job.h"
#include "process/testing/quiet_log.h"
#include "process/testing/worker_job.h"

namespace leeway::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using WorkerClientTest = WorkerJobTest;

TEST_F(WorkerClientTest, TrainsAQuadraticToItsOptimumUnderBsp) {
  JobOptions options;
  options.block_bytes = 64;  // 16 floats: several blocks
  StartJob(options);
  Join();
  EXPECT_EQ(worker->rank(), WorkerId(0));
  EXPECT_EQ(worker->size(), 1U);
  std::vector<float> optimum(100);
  std::iota(optimum.begin(), optimum.end(), -50.0F);
  const TableId table = MakeTable({.name = "w", .shape = {10, 10}}, std::vector<float>(100, 0.0F));
  std::vector<float> gradient(100);
  for (int i = 0; i < 60; ++i) {
    const Result<std::span<const float>> w = worker->Sync(table);
    ASSERT_TRUE(w.ok()) << w.status().ToString();
    for (std::size_t j = 0; j < gradient.size(); ++j) gradient[j] = (*w)[j] - optimum[j];
    const Result<Ticket> ticket = worker->Push(table, gradient, {.hyper = {.lr = 0.5F}});
    ASSERT_TRUE(ticket.ok()) << ticket.status().ToString();
    ASSERT_TRUE(worker->Clock().ok());
    ASSERT_TRUE(worker->Wait(*ticket).ok());
  }
  ASSERT_TRUE(worker->Shutdown().ok());
  const Result<std::span<const float>> final = worker->Sync(table);
  ASSERT_TRUE(final.ok()) << "final values stay readable: " << final.status().ToString();
  for (std::size_t j = 0; j < optimum.size(); ++j) EXPECT_NEAR((*final)[j], optimum[j], 1e-4);
  const WorkerCounters counters = worker->counters();
  EXPECT_EQ(counters.pushes, 60U * 7U);
  EXPECT_EQ(counters.summed, 60U * 7U);
}

TEST_F(WorkerClientTest, EachConditionIsSetByItselfAndTheOtherStays) {
  StartJob();
  Join(std::chrono::seconds(2));
  const TableId table = MakeTable({.name = "w", .shape = {4}}, std::vector<float>(4, 0.0F));
  const auto set = [](const Result<std::uint32_t>& tables) {
    return tables.ok() ? std::to_string(*tables) : tables.status().ToString();
  };
  EXPECT_EQ(set(worker->SetCondPull("w", "progress < v_train + 3")), "1");
  // Iteration 3 stays open; the trial of a new condition does not reach it.
  EXPECT_EQ(set(worker->SetCondPush("w", "count >= workers && v_train != 3")), "1");
  EXPECT_THAT(set(worker->SetCondPush("w", "cuont >= 2")), HasSubstr("count"));
  const std::vector<float> gradient(4, 1.0F);
  const auto step = [&] {
    const Result<Ticket> ticket = worker->Push(table, gradient, {.hyper = {.lr = 1.0F}});
    EXPECT_TRUE(ticket.ok()) << ticket.status().ToString();
    EXPECT_TRUE(worker->Clock().ok());
    return worker->Sync(table).status();
  };
  for (int i = 0; i < 3 + 3; ++i) EXPECT_TRUE(step().ok()) << "the pull condition is the one that was set";
  EXPECT_EQ(step().code(), StatusCode::kDeadlineExceeded) << "and so is the push condition";
}

TEST_F(WorkerClientTest, TheConditionThatIsNotGivenStaysOrTheCallIsRefused) {
  StartJob();
  Join(std::chrono::seconds(2));
  const TableId table = MakeTable({.name = "w", .shape = {4}, .sync = "ssp:2"}, std::vector<float>(4, 0.0F));
  // Iteration 3 stays open, and ssp:2 lets the worker be two ahead of it.
  const Result<std::uint32_t> set = worker->SetCondPush("w", "count >= workers && v_train != 3");
  ASSERT_TRUE(set.ok()) << set.status().ToString();
  const std::vector<float> gradient(4, 1.0F);
  const auto step = [&] {
    EXPECT_TRUE(worker->Push(table, gradient).ok());
    EXPECT_TRUE(worker->Clock().ok());
    return worker->Sync(table).status();
  };
  for (int i = 0; i < 3 + 2; ++i) EXPECT_TRUE(step().ok()) << "the pull condition of ssp:2";
  ASSERT_TRUE(worker->SetSync("tables=w sync=pssp:2,0.5").ok());
  const Result<std::uint32_t> pull = worker->SetCondPull("w", "gap < 2");
  EXPECT_TRUE(pull.ok()) << "its push condition can be kept: " << pull.status().ToString();
  ASSERT_TRUE(worker->SetSync("tables=w sync=pssp:2,0.5").ok());
  const Status refused = worker->SetCondPush("w", "count >= 1").status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(),
              AllOf(HasSubstr("SetCondPush"), HasSubstr("pssp:2,0.5"), HasSubstr("SetSync")));
}

TEST_F(WorkerClientTest, AStateThatNoCheckpointWantsIsDropped) {
  StartJob();
  Join();
  const TableId table = MakeTable({.name = "w", .shape = {1}}, {0});
  EXPECT_TRUE(worker->RestoredState().empty());
  const std::vector<float> gradient{1};  // on loan until its verdict
  ASSERT_TRUE(worker->Push(table, gradient).ok());
  ASSERT_TRUE(worker->Clock().ok());
  EXPECT_FALSE(worker->StateWanted());
  EXPECT_TRUE(worker->GiveState(std::vector<std::byte>(10)).ok());
  ASSERT_TRUE(worker->Shutdown().ok());
  EXPECT_FALSE(worker->GiveState({}).ok());
}

TEST_F(WorkerClientTest, ALongWaitSaysOnceForWhatAndWhatToDo) {
  StartJob();
  WorkerOptions options;
  options.scheduler = job->scheduler();
  options.link.secret = job->secret();
  options.wait_max = std::chrono::seconds(3);
  options.stall_warn = std::chrono::milliseconds(500);
  worker = *Worker::Initialize(options);
  const Result<TableId> table = worker->CreateTable({.name = "w", .shape = {4}});
  ASSERT_TRUE(worker->Start().ok());  // pulls the initial values, which nobody gives
  ::testing::internal::CaptureStderr();
  const Status waited = worker->Sync(*table).status();
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(waited.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(said,
              ::testing::ContainsRegex("has waited [0-9.]+ s for table \"w\" block 0 on server 0 shard 0"));
  EXPECT_THAT(said, HasSubstr("no rank has given the table its first values"));
  EXPECT_THAT(said, HasSubstr("what to do: let one rank call Broadcast"));
  EXPECT_EQ(said.find("what to do"), said.rfind("what to do")) << said;
}

TEST_F(WorkerClientTest, PushPullAndWaitAsPsLiteUsersKnowThem) {
  StartJob();
  Join();
  const TableSpec spec{
      .name = "sum", .shape = {3}, .clock = TableClock::kOwn, .sync = "asp", .optimizer = "sum"};
  const TableId table = MakeTable(spec, {0, 0, 0});
  const std::vector<float> one{1, 2, 3};
  std::vector<Ticket> tickets;
  for (int i = 0; i < 10; ++i) tickets.push_back(*worker->Push(table, one));
  for (const Ticket ticket : tickets) EXPECT_TRUE(worker->Wait(ticket).ok());
  std::vector<float> got(3);
  std::atomic<int> called{0};
  const Result<Ticket> pull =
      worker->Pull(table, got, [&](const Status& status) { called += status.ok() ? 1 : 100; });
  ASSERT_TRUE(pull.ok());
  EXPECT_TRUE(worker->Wait(*pull).ok());
  EXPECT_TRUE(worker->Done(*pull));
  EXPECT_EQ(worker->Wait(*pull).code(), StatusCode::kNotFound) << "an outcome is given once";
  EXPECT_EQ(called, 1);
  EXPECT_THAT(got, ElementsAre(10, 20, 30));
  EXPECT_TRUE(worker->Shutdown().ok());
}

TEST_F(WorkerClientTest, PushPullIsOneCallWithOneTicket) {
  JobOptions options;
  options.block_bytes = 16;  // several blocks
  StartJob(options);
  Join();
  TableSpec spec{.name = "c", .shape = {10}};
  spec.clock = TableClock::kOwn;
  spec.sync = "asp";
  spec.optimizer = "sum";
  const TableId table = MakeTable(spec, std::vector<float>(10, 0.0F));
  const std::vector<float> ones(10, 1.0F);
  // More in flight than a block has verdicts remembered.
  std::vector<std::vector<float>> values(8, std::vector<float>(10));
  std::vector<Ticket> tickets;
  std::atomic<int> told{0};
  for (std::vector<float>& into : values) {
    const Result<Ticket> ticket =
        worker->PushPull(table, ones, into, {.done = [&](const Status& status) { told += status.ok(); }});
    ASSERT_TRUE(ticket.ok()) << ticket.status().ToString();
    tickets.push_back(*ticket);
  }
  for (std::size_t i = 0; i < tickets.size(); ++i) {
    ASSERT_TRUE(worker->Wait(tickets[i]).ok());
    EXPECT_TRUE(worker->Done(tickets[i]));
    for (const float value : values[i])
      EXPECT_GE(value, static_cast<float>(i + 1)) << "its own push is in it";
  }
  EXPECT_EQ(told, 8);
  EXPECT_THAT(values.back(), Each(8.0F));

  EXPECT_THAT(worker->PushPull(table, ones, std::span(values[0]).first(3)).status().message(),
              AllOf(HasSubstr("room for 3"), HasSubstr("wanted 10")));
  EXPECT_EQ(worker->PushPull(table, std::span(ones).first(3), values[0]).status().code(),
            StatusCode::kInvalidArgument);
  // A refused push is the outcome, and the values come nevertheless: until then they are on loan.
  const std::vector<float> bad(10, std::numeric_limits<float>::infinity());
  const Result<Ticket> refused = worker->PushPull(table, bad, values[0]);
  ASSERT_TRUE(refused.ok());
  EXPECT_EQ(worker->Wait(*refused).code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(values[0], Each(8.0F));
  ASSERT_TRUE(worker->Shutdown().ok());
}

TEST_F(WorkerClientTest, BadCallsSayWhatGotAndWantedAndHarmNothing) {
  StartJob();
  Join();
  const TableId table = MakeTable({.name = "w", .shape = {4}, .optimizer = "sgd"}, {1, 1, 1, 1});
  const std::vector<float> gradient(4, 1.0F);
  EXPECT_THAT(worker->Push(table, std::span(gradient).first(3)).status().message(),
              HasSubstr("table \"w\": got a gradient of 3 values, wanted 4"));
  EXPECT_EQ(worker->Push(TableId(9), gradient).status().code(), StatusCode::kNotFound);
  std::vector<float> room(4);
  EXPECT_EQ(worker->Pull(table, room).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(worker->PushPull(table, gradient, room).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(worker->CreateTable({.name = "w", .shape = {4}}).status().code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(worker->CreateTable({.name = "z", .shape = {0}}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(worker->Wait(0).code(), StatusCode::kNotFound);
  const Result<TableId> odd = worker->CreateTable({.name = "odd", .shape = {4}, .optimizer = "sdg"});
  ASSERT_TRUE(odd.ok());
  EXPECT_THAT(worker->Start().message(), HasSubstr("did you mean \"sgd\"?"));
  EXPECT_THAT(worker->Push(*odd, gradient).status().message(), HasSubstr("table \"odd\" was refused"));
  ASSERT_TRUE(worker->Push(table, gradient, {.hyper = {.lr = 1.0F}}).ok());
  EXPECT_THAT(worker->Push(table, gradient).status().message(), HasSubstr("pushed in iteration 0 already"));
  ASSERT_TRUE(worker->Clock().ok());
  EXPECT_THAT(*worker->Sync(table), Each(0.0F)) << "the one good push was applied, nothing else";
  EXPECT_TRUE(worker->Shutdown().ok());
  EXPECT_EQ(worker->Clock().code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(worker->Shutdown().ok()) << "twice is fine";
}

TEST_F(WorkerClientTest, ANanIsRefusedAndHoldsNobody) {
  StartJob();
  Join();
  const TableId table = MakeTable({.name = "w", .shape = {2}}, {5, 5});
  const std::vector<float> bad{1.0F, std::numeric_limits<float>::quiet_NaN()};
  const Result<Ticket> ticket = worker->Push(table, bad);
  ASSERT_TRUE(worker->Clock().ok());
  const Status refused = worker->Wait(*ticket);
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("1 of 1 blocks"));
  EXPECT_THAT(*worker->Sync(table), Each(5.0F));
  EXPECT_EQ(worker->counters().refused, 1U);
  EXPECT_TRUE(worker->Shutdown().ok());
}

TEST_F(WorkerClientTest, TheBufferInUseStaysAsItIsUntilTheNextIteration) {
  StartJob();
  Join();
  std::vector<float> first(2), second(2);
  const Result<TableId> table =
      worker->CreateTable({.name = "w", .shape = {2}}, {first.data(), second.data()});
  ASSERT_TRUE(table.ok());
  ASSERT_TRUE(worker->Start().ok());
  ASSERT_TRUE(worker->Broadcast(*table, std::vector<float>{1, 1}).ok());
  const std::span<const float> before = *worker->Sync(*table);
  EXPECT_TRUE(before.data() == first.data() || before.data() == second.data());
  const std::vector<float> gradient(2, 1.0F);
  const Ticket ticket = *worker->Push(*table, gradient, {.hyper = {.lr = 1.0F}});
  ASSERT_TRUE(worker->Wait(ticket).ok());
  EXPECT_EQ(worker->Sync(*table)->data(), before.data()) << "the same iteration";
  EXPECT_THAT(before, Each(1.0F));
  ASSERT_TRUE(worker->Clock().ok());
  const std::span<const float> after = *worker->Sync(*table);
  EXPECT_NE(after.data(), before.data());
  EXPECT_THAT(after, Each(0.0F));
  EXPECT_TRUE(worker->Shutdown().ok());
}

TEST_F(WorkerClientTest, AWaitGivesUpAtItsLimitAndNamesWhatItWaitedFor) {
  StartJob();
  Join(std::chrono::seconds(2));
  const Result<TableId> table = worker->CreateTable({.name = "never", .shape = {2}});
  ASSERT_TRUE(worker->Start().ok());
  const Status status = worker->Sync(*table).status();  // nobody broadcasts
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(status.message(), HasSubstr("table \"never\" block 0 on server 0 shard 0"));
}

TEST_F(WorkerClientTest, TablesThatNobodyGaveValuesDoNotHoldUpTheEnd) {
  StartJob();
  Join();
  ASSERT_TRUE(worker->CreateTable({.name = "never", .shape = {2}}).ok());
  ASSERT_TRUE(worker->CreateTable({.name = "own", .shape = {2}, .clock = TableClock::kOwn}).ok());
  ASSERT_TRUE(worker->Start().ok());
  const Status down = worker->Shutdown();
  EXPECT_TRUE(down.ok()) << down.ToString();
}

TEST_F(WorkerClientTest, BatchesOfAPoolAreLeasedOnce) {
  StartJob();
  Join();
  std::vector<std::uint64_t> all;
  for (int i = 0; i < 100; ++i) {
    const Result<BatchLease> lease = worker->LeaseBatches("train", 10, 3);
    ASSERT_TRUE(lease.ok()) << lease.status().ToString();
    if (lease->exhausted) break;
    all.insert(all.end(), lease->batches.begin(), lease->batches.end());
  }
  std::sort(all.begin(), all.end());
  std::vector<std::uint64_t> wanted(10);
  std::iota(wanted.begin(), wanted.end(), 0);
  EXPECT_EQ(all, wanted);
  EXPECT_TRUE(worker->Barrier("end").ok());
  EXPECT_TRUE(worker->Shutdown().ok());
}

TEST_F(WorkerClientTest, AForkedChildGetsAClearErrorFromEveryCall) {
  StartJob();
  Join();
  const TableId table = MakeTable({.name = "w", .shape = {2}}, {1, 1});
  std::shared_ptr<float> lent = worker->Allocate(1 << 20);
  lent.get()[5000] = 3.0F;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool clear = worker->Clock().code() == StatusCode::kFailedPrecondition &&
                       worker->Sync(table).status().code() == StatusCode::kFailedPrecondition &&
                       worker->Shutdown().code() == StatusCode::kFailedPrecondition &&
                       worker->Allocate(1 << 20).get()[7] == 0.0F;  // any memory
    lent.reset();
    worker.reset();  // must neither hang nor disturb the parent
    _exit(clear ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(lent.get()[5000], 3.0F) << "the child let go of it, and it is the parent's";
  EXPECT_TRUE(worker->Sync(table).ok());
  EXPECT_TRUE(worker->Shutdown().ok());
  EXPECT_EQ(worker->Allocate(10).get()[9], 0.0F) << "plain memory, after the end";
}

TEST_F(WorkerClientTest, DestroyingAWorkerInTheMiddleCallsBackWhatIsPendingAndDoesNotHang) {
  StartJob();
  Join();
  const TableSpec spec{
      .name = "c", .shape = {2}, .clock = TableClock::kOwn, .sync = "asp", .optimizer = "sum"};
  const Result<TableId> table = worker->CreateTable(spec);
  ASSERT_TRUE(worker->Start().ok());
  std::vector<float> values(2);
  std::atomic<int> failed{0};
  // Nobody broadcasts, so this pull waits.
  ASSERT_TRUE(
      worker->Pull(*table, values, [&](const Status& status) { failed += status.ok() ? 0 : 1; }).ok());
  worker.reset();
  EXPECT_EQ(failed, 1);
}

TEST(WorkerInitializeTest, NobodyAtTheAddressGivesUpAfterTheStatedTime) {
  WorkerOptions options;
  options.scheduler = "127.0.0.1:1";
  options.insecure = true;
  options.link.give_up_after = std::chrono::milliseconds(200);
  options.link.backoff_min = std::chrono::milliseconds(5);
  const auto began = std::chrono::steady_clock::now();
  const Result<std::unique_ptr<Worker>> worker = Worker::Initialize(options);
  EXPECT_GE(std::chrono::steady_clock::now() - began, options.link.give_up_after);
  ASSERT_FALSE(worker.ok());
  EXPECT_EQ(worker.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(worker.status().message(), ContainsRegex("scheduler at 127.0.0.1:1 for [0-9.]+ s"));
}

TEST(WorkerInitializeTest, AMissingAddressFileIsNamed) {
  WorkerOptions options;
  options.scheduler = "file:/nonexistent/leeway-address";
  options.insecure = true;
  options.link.give_up_after = std::chrono::milliseconds(50);
  options.link.backoff_min = std::chrono::milliseconds(5);
  EXPECT_THAT(Worker::Initialize(options).status().message(), HasSubstr("/nonexistent/leeway-address"));
}

TEST(WorkerInitializeTest, WithoutASchedulerAWorkerIsAJobOfItsOwn) {
  const Result<std::unique_ptr<Worker>> worker = Worker::Initialize({});
  ASSERT_TRUE(worker.ok()) << worker.status().ToString();
  EXPECT_EQ((*worker)->size(), 1U);
  EXPECT_TRUE((*worker)->Shutdown().ok());
}

TEST(WorkerInitializeTest, AnotherJobIsRefused) {
  QuietLog log;
  JobOptions mine;
  mine.job = "mine";
  Result<std::unique_ptr<LocalJob>> job = LocalJob::Start(mine, log);
  ASSERT_TRUE(job.ok());
  WorkerOptions options;
  options.scheduler = (*job)->scheduler();
  options.job = "yours";
  EXPECT_THAT(Worker::Initialize(options).status().message(), HasSubstr("the job's secret is not given"));
  options.insecure = true;
  const Status without = Worker::Initialize(options).status();
  EXPECT_EQ(without.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(without.message(), HasSubstr("it has one, and this process has none"));
  EXPECT_EQ(without.message().find("mine"), std::string::npos) << "a stranger is told nothing of the job";
  options.insecure = false;
  options.link.secret = (*job)->secret();
  const Status status = Worker::Initialize(options).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("yours"));
}

TEST_F(WorkerClientTest, AStateOfMoreArraysThanAnyOptimizerHasIsRefusedHere) {
  StartJob();
  Join();
  const TableId table = MakeTable({.name = "w", .shape = {2}, .optimizer = "sgd"}, {0, 0});
  for (const std::size_t arrays : {9U, 257U}) {
    const Status written =
        worker->WriteState(table, {.steps = 1, .arrays = {arrays, std::vector<float>{1, 1}}});
    EXPECT_EQ(written.code(), StatusCode::kInvalidArgument) << written.ToString();
    EXPECT_THAT(written.message(), HasSubstr("wanted at most 8"));
  }
  EXPECT_TRUE(worker->Barrier("alive").ok());
}

}  // namespace
}  // namespace leeway::testing
