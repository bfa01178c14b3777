#include "node/worker/reporting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <string>

#include "base/heap_arena.h"
#include "node/testing/fake_env.h"
#include "node/worker/testing/link_stub.h"
#include "node/worker/wait_causes.h"
#include "sync/sync_policy.h"

namespace leeway {
namespace {

using ::testing::HasSubstr;

struct User : UserActivity {
  [[nodiscard]] std::optional<bool> UserWaits() const override { return waits; }
  [[nodiscard]] bool UserMayCompute() const override { return may_compute; }
  std::optional<bool> waits;
  bool may_compute = false;
};

// A member without tables, whose scheduler is connected.
class ReportingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    to = links.Connect(*scheduler);
    env.transport.sent.clear();
  }
  static LinkOptions Options() {
    LinkOptions options;
    options.beat = std::chrono::seconds(1);
    options.give_up_after = std::chrono::seconds(60);
    return options;
  }
  [[nodiscard]] WorkerView View() const {
    return {env.clock.now,
            phase,
            env.clock.now,
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
  std::size_t Reports() { return env.transport.TakeSent(to, wire::Kind::kReport).size(); }
  wire::pb::Report OneReport() {
    const auto sent = env.transport.TakeSent(to, wire::Kind::kReport);
    return sent.size() == 1 ? testing::ParseAs<wire::pb::Report>(sent[0]) : wire::pb::Report();
  }
  // A table whose values the user waits for once, for 10 ms.
  void AddWaitedTable(const std::string& name) {
    ParameterPair& pair = pairs.emplace_back(2, nullptr, nullptr);
    ASSERT_TRUE(tables.Create({.name = name, .shape = {2}}, pair).ok());
    WorkerTable& table = *tables.TakeCreated().at(0);
    wire::pb::Table map;
    map.set_name(name);
    wire::pb::Block* block = map.add_blocks();
    block->set_block(table.id.value());
    block->set_term(1);
    block->set_since(1);
    block->set_elements(2);
    ASSERT_TRUE(TableSet::Place(table, map, 1).ok());
    OverlapAccount& account = communication.account();
    account.Ready(table.id, Iteration(0), env.clock.now, env.clock.now);
    account.Needed(table.id, env.clock.now, env.clock.now);
    env.clock.now += std::chrono::milliseconds(10);
    account.Arrived(table.id, Iteration(0), Duration(0), env.clock.now);
    account.Released(table.id, env.clock.now);
  }
  wire::pb::WhyReply Survey() {
    wire::pb::Why why;
    why.set_request(9);
    reporting.OnSurvey(why);
    const auto sent = env.transport.TakeSent(to, wire::Kind::kWhyReply);
    return sent.size() == 1 ? testing::ParseAs<wire::pb::WhyReply>(sent[0]) : wire::pb::WhyReply();
  }

  testing::FakeEnv env;
  testing::LinkStub links{env};
  User user;
  WorkerPhase phase = WorkerPhase::kMember;
  Iteration iteration{4};
  JobOptions job;
  RosterView roster;
  std::unique_ptr<Link> scheduler = links.Make(0, "the scheduler");
  SchedulerRequests requests{env.clock, *scheduler, [](const std::function<void()>&) {}};
  HeapArena arena;
  std::deque<ParameterPair> pairs;
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
  ConnectionId to;
  int beats = 0;
  std::optional<std::string> text;
  Reporting reporting{env.timers,
                      Options(),
                      *scheduler,
                      counters,
                      user,
                      due,
                      {.view = [this] { return View(); }, .beat = [this] { ++beats; }}};
};

TEST_F(ReportingTest, EveryBeatSendsAReportUntilStopped) {
  env.Advance(std::chrono::seconds(2));
  EXPECT_EQ(Reports(), 0U) << "not started";
  reporting.Start();
  env.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Reports(), 1U);
  env.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Reports(), 1U);
  EXPECT_EQ(beats, 2);
  reporting.Stop();
  env.Advance(std::chrono::seconds(5));
  EXPECT_EQ(Reports(), 0U);
  EXPECT_EQ(beats, 2);
}

TEST_F(ReportingTest, AReportCountsTheCallsOfTheUserAndHasItsFigures) {
  reporting.NoteAct();
  reporting.NoteAct();
  reporting.SetFigure("loss", 0.5);
  reporting.Report();
  const wire::pb::Report report = OneReport();
  EXPECT_EQ(report.acts(), 2U);
  EXPECT_EQ(report.iteration(), 4);
  EXPECT_EQ(report.values().at("loss"), 0.5);
}

TEST_F(ReportingTest, TablesWhoseNamesBeginAlikeShareTheirFiguresOfOverlap) {
  const std::string same(WaitCauses::kNameBytesMax, 'x');
  AddWaitedTable(same + ".weight");
  AddWaitedTable(same + ".bias");
  AddWaitedTable("other");
  reporting.Report();
  const wire::pb::Report report = OneReport();
  EXPECT_DOUBLE_EQ(report.values().at("overlap.wire." + same), 0.02);
  EXPECT_DOUBLE_EQ(report.values().at("overlap.communication." + same), 0.02);
  EXPECT_DOUBLE_EQ(report.values().at("overlap.wire.other"), 0.01);
  EXPECT_DOUBLE_EQ(report.values().at("overlap.wire_s"), 0.03);
}

// Half a character in a figure's name would make the report unreadable.
TEST_F(ReportingTest, ALongNameIsCutBetweenTwoCharacters) {
  const std::string cut =
      "xx" + std::string("\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac");
  AddWaitedTable(cut + "\u20ac");
  reporting.Report();
  EXPECT_DOUBLE_EQ(OneReport().values().at("overlap.wire." + cut), 0.01);
}

TEST_F(ReportingTest, TheUserWaitsIfItSaysSoOrElseIfACallIsOpen) {
  reporting.Report();
  EXPECT_FALSE(OneReport().waits());
  requests.Barrier("b", Iteration(4), 4, [](const Status&) {});
  reporting.Report();
  EXPECT_TRUE(OneReport().waits());
  user.waits = false;
  reporting.Report();
  EXPECT_FALSE(OneReport().waits()) << "the user knows better";
  user.waits = std::nullopt;
  requests.ForgetBarrier("b");
  phase = WorkerPhase::kLeaving;
  reporting.Report();
  EXPECT_TRUE(OneReport().waits());
}

TEST_F(ReportingTest, ASurveyListsOpenWaitsOnlyWhileTheUserWaits) {
  requests.Barrier("b", Iteration(4), 4, [](const Status&) {});
  reporting.NoteAct();
  wire::pb::WhyReply reply = Survey();
  EXPECT_EQ(reply.request(), 9U);
  EXPECT_EQ(reply.open_size(), 1);
  EXPECT_EQ(reply.acts(), 1U);
  EXPECT_TRUE(reply.waits());
  EXPECT_TRUE(reply.settled());
  user.waits = false;
  user.may_compute = true;
  reply = Survey();
  EXPECT_EQ(reply.open_size(), 0);
  EXPECT_FALSE(reply.settled()) << "another thread may compute";
}

TEST_F(ReportingTest, AWaitForABarrierIsExplainedWithTheSchedulersWord) {
  const Explained told = [this](const std::string& why, bool) { text = why; };
  reporting.Explain(WorkerId(1), told);
  ASSERT_TRUE(text.has_value());
  EXPECT_THAT(*text, HasSubstr("nothing of the job"));
  text.reset();
  requests.Barrier("b", Iteration(4), 4, [](const Status&) {});
  reporting.Explain(WorkerId(1), told);
  EXPECT_FALSE(text.has_value()) << "the scheduler is asked first";
  const auto asked = env.transport.TakeSent(to, wire::Kind::kWhy);
  ASSERT_EQ(asked.size(), 1U);
  wire::pb::WhyReply reply;
  reply.set_request(testing::ParseAs<wire::pb::Why>(asked[0]).request());
  reporting.OnReply(reply, true);
  due.Run();
  ASSERT_TRUE(text.has_value());
  EXPECT_THAT(*text, HasSubstr("barrier \"b\""));
}

}  // namespace
}  // namespace leeway
