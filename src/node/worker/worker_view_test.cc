// FindWait, AddOpenWaits, IsSettled and WorkerReports, on parts that no node has put together.
#include "node/worker/worker_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/heap_arena.h"
#include "node/testing/fake_env.h"
#include "node/worker/open_waits.h"
#include "node/worker/testing/link_stub.h"
#include "node/worker/worker_reports.h"
#include "sync/sync_policy.h"

namespace leeway {
namespace {

using ::testing::HasSubstr;

// A table "w" of one block, on one shard that is connected.
class WorkerViewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ports.Add(links.Make(1, "server 0 shard 0"), 0);
    to[0] = links.Connect(*scheduler);
    to[1] = links.Connect(ports.At(0).link());
    (void)*tables.Create({.name = "w", .shape = {2}}, pair);
    table = tables.TakeCreated().at(0);
    wire::pb::Table map;
    map.set_name("w");
    map.add_blocks()->set_elements(2);
    ASSERT_TRUE(TableSet::Place(*table, map, 1).ok());
    tables.Index(*table);
    table->blocks[0].model = std::make_shared<BlockModel>();
    env.transport.sent.clear();
  }
  [[nodiscard]] WorkerView View() const {
    return {env.clock.now,
            phase,
            since,
            false,
            false,
            iteration,
            job,
            roster,
            *scheduler,
            requests,
            tables,
            ports,
            reads,
            partial,
            rules,
            waits,
            communication.account(),
            step,
            client_state};
  }
  // The user waits for the values of "w".
  void WaitForValues() {
    table->blocks[0].pull.Ask(Iteration(3), env.clock.now);
    table->waiters.push_back({Iteration(3), env.clock.now, {}});
    waits.Begin(env.clock.now);
  }

  testing::FakeEnv env;
  testing::LinkStub links{env};
  WorkerPhase phase = WorkerPhase::kMember;
  TimePoint since = env.clock.now;
  Iteration iteration{4};
  JobOptions job;
  RosterView roster;
  std::unique_ptr<Link> scheduler = links.Make(0, "the scheduler");
  SchedulerRequests requests{env.clock, *scheduler, [](const std::function<void()>&) {}};
  HeapArena arena;
  ParameterPair pair{2, nullptr, nullptr};
  TableSet tables{arena};
  WorkerIdentity self;
  WorkerCounters counters;
  DueCallbacks due;
  Communication communication{env.clock, nullptr};
  ShardPorts ports{self, counters, communication, WorkerOptions()};
  ArrayReads reads{self, counters, due};
  PartialPull partial;
  Registry<SyncModel> models = BuiltinSyncModels();
  BlockRules rules{models};
  WaitAccount waits{counters};
  StepBarrier step;
  ClientState client_state{env.env, WorkerOptions(), {}};
  WorkerTable* table = nullptr;
  ConnectionId to[2];
  wire::pb::WhyReply surveyed;
  Inquiries inquiries{env.timers, due, *scheduler, [this](wire::pb::WhyReply reply) { surveyed = reply; }};
};

TEST_F(WorkerViewTest, AWorkerThatComputesWaitsForNothing) {
  EXPECT_EQ(FindWait(View()).cause, Wait::Cause::kNothing);
  EXPECT_TRUE(IsSettled(View()));
}

TEST_F(WorkerViewTest, AWorkerThatJoinsWaitsForTheOthers) {
  phase = WorkerPhase::kJoining;
  job.workers = 4;
  env.Advance(std::chrono::seconds(2));
  const Wait wait = FindWait(View());
  EXPECT_EQ(wait.cause, Wait::Cause::kGathering);
  EXPECT_THAT(wait.text, HasSubstr("all 4 workers"));
  EXPECT_THAT(wait.text, HasSubstr("for 2.0 s"));
}

TEST_F(WorkerViewTest, AWaitForValuesNamesTableServerAndIteration) {
  WaitForValues();
  env.Advance(std::chrono::seconds(3));
  const Wait wait = FindWait(View());
  EXPECT_EQ(wait.cause, Wait::Cause::kValues);
  EXPECT_EQ(wait.block, &table->blocks[0]);
  EXPECT_THAT(
      wait.text,
      HasSubstr("table \"w\" block 0 on server 0 shard 0: values for iteration 4, for 3.0 s (connected"));
}

TEST_F(WorkerViewTest, APushWithoutAVerdictIsUnderWay) {
  ports.MarkAbsent(*table, Iteration(3));
  EXPECT_EQ(FindWait(View()).cause, Wait::Cause::kVerdict);
  EXPECT_FALSE(IsSettled(View()));
}

TEST_F(WorkerViewTest, ASurveyAsksTheShardOfATableThatIsWaitedFor) {
  WaitForValues();
  inquiries.Survey(5, [this] { AddOpenWaits(View(), inquiries); });
  EXPECT_EQ(env.transport.TakeSent(to[1], wire::Kind::kWhy).size(), 1U);
  env.Advance(std::chrono::seconds(1));
  ASSERT_EQ(surveyed.open_size(), 1);
  EXPECT_EQ(surveyed.open(0).what(), "the values of table \"w\" for iteration 4");
}

TEST_F(WorkerViewTest, AReportSaysWhatIsWaitedForAndTheUsersFigures) {
  WaitForValues();
  WorkerReports reports;
  reports.NoteAct();
  reports.SetFigure("loss", 0.5);
  reports.SetFigure("pushes", 7);
  env.Advance(std::chrono::seconds(3));
  const wire::pb::Report report = reports.Make(View(), counters, true);
  EXPECT_EQ(report.iteration(), 4);
  EXPECT_EQ(report.acts(), 1U);
  EXPECT_TRUE(report.waits());
  EXPECT_EQ(report.moment().waits_on(), "values");
  EXPECT_EQ(report.moment().name(), "w");
  EXPECT_DOUBLE_EQ(report.moment().waiting_s(), 3.0);
  EXPECT_EQ(report.values().at("loss"), 0.5);
  EXPECT_EQ(report.values().at("pushes"), 7) << "the user's own figure counts";
}

}  // namespace
}  // namespace leeway
