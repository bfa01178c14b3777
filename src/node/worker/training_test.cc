#include "node/worker/training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "base/errors.h"
#include "exchange/exchanges.h"
#include "node/testing/fake_env.h"
#include "node/worker/testing/link_stub.h"
#include "sync/sync_policy.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A member with one table "w" of one block, on one shard that is connected.
class TrainingTest : public ::testing::Test {
 protected:
  void Start(const JobOptions& job = {}) {
    self.worker = WorkerId(1);
    self.incarnation = Incarnation(1);
    ASSERT_TRUE(training.TakeJob(job).ok());
    links.on_up = [this](std::uint32_t link) { training.ports().OnUp(link - 1); };
    training.ports().Add(links.Make(1, "server"), 0);
    to = links.Connect(training.ports().At(0).link());
    training.BeginAt(Iteration(0));
    training.Join();
    w = *training.tables().Create({.name = "w", .shape = {2}}, pair);
    wire::pb::TableMap map;
    wire::pb::Table* table = map.add_tables();
    table->set_name("w");
    wire::pb::Block* block = table->add_blocks();
    block->set_term(1);
    block->set_since(1);
    block->set_elements(2);
    ASSERT_TRUE(training.Place(training.tables().TakeCreated(), map).ok());
    Answer(-1, 1);
    ASSERT_TRUE(pair.Take());
    env.transport.sent.clear();
  }
  // The shard answers a pull with new values.
  void Answer(std::int64_t progress, std::uint64_t version, std::uint32_t held_us = 0) {
    wire::Answers answers;
    answers.worker = WorkerId(1);
    answers.incarnation = Incarnation(1);
    wire::AnswerEntry entry;
    entry.term = Term(1);
    const PullState& pull = training.tables().FindBlock(BlockId(0))->pull;
    entry.ask = pull.ask();
    while (entry.ask > Ask(1) && pull.ProgressOf(entry.ask) != Iteration(progress)) --entry.ask;
    entry.v_train = Iteration(progress + 1);
    entry.version = Version(version);
    entry.held_us = held_us;
    entry.SetWhole(8);
    answers.entries.push_back(entry);
    std::vector<std::byte> body;
    wire::Encode(answers, body);
    const Result<Landing> landing = landings.Begin(self, ShardId(0), training.tables(), body, 8);
    ASSERT_TRUE(landing.ok()) << landing.status().ToString();
    ASSERT_TRUE(
        training.OnAnswers(training.ports().At(0), *static_cast<AnswerLanding*>(landing->lease.get())).ok());
    due.Run();
  }
  void Verdict(std::uint64_t seq) {
    WorkerBlock& block = *training.tables().FindBlock(BlockId(0));
    auto settled = training.ports().Settle(training.ports().At(0), block, Seq(seq));
    ASSERT_TRUE(settled.ok() && settled->has_value());
    training.loans().OnVerdict(block, **std::move(settled), wire::Verdict::kApplied, Iteration(0));
    training.AfterVerdicts();
    due.Run();
  }
  Status Push() { return training.Push(w, {gradient, nullptr, {}, 1}, Into(pushed)); }
  static Done Into(std::optional<Status>& outcome) {
    return [&outcome](const Status& status) { outcome = status; };
  }
  std::vector<wire::Kind> Sent() {
    std::vector<wire::Kind> kinds;
    for (const testing::SentFrame& frame : env.transport.TakeSent(to)) kinds.push_back(frame.kind);
    return kinds;
  }

  testing::FakeEnv env;
  testing::LinkStub links{env};
  Registry<SyncModel> models = BuiltinSyncModels();
  Registry<ExchangePolicy> exchanges = BuiltinExchanges();
  WorkerIdentity self;
  WorkerCounters counters;
  DueCallbacks due;
  int barriers = 0;
  std::vector<bool> gated;
  Training training{WorkerOptions(),
                    env.env,
                    {.sync = models, .exchanges = exchanges},
                    self,
                    counters,
                    due,
                    {.at_barrier = [this] { ++barriers; },
                     .iteration = [](Iteration) {},
                     .gated = [this](bool now) { gated.push_back(now); },
                     .shown = [] {},
                     .loans_looked = [] {}}};
  AnswerLandings landings;
  ParameterPair pair{2, nullptr, nullptr};
  ConnectionId to;
  TableId w;
  const std::vector<float> gradient{1, 2};
  std::optional<Status> pushed, usable;
};

TEST_F(TrainingTest, AGradientGoesOutWithThePullThatFollowsIt) {
  Start();
  ASSERT_TRUE(Push().ok());
  EXPECT_THAT(Sent(), ElementsAre(wire::Kind::kPush, wire::Kind::kPull));
  EXPECT_THAT(Push().message(), HasSubstr("has its gradient of iteration 0 already"));
  EXPECT_FALSE(training.settled());
  Verdict(1);
  EXPECT_TRUE(pushed.has_value() && pushed->ok());
  EXPECT_TRUE(training.settled());
}

TEST_F(TrainingTest, ATableWithoutAGradientIsAbsentInTheIteration) {
  Start();
  training.Clock(std::nullopt);
  EXPECT_EQ(training.iteration(), Iteration(1));
  EXPECT_THAT(Sent(), ElementsAre(wire::Kind::kAbsent, wire::Kind::kPull));
}

TEST_F(TrainingTest, ATableMayBeUsedOnceItsValuesAreHere) {
  Start();
  ASSERT_TRUE(Push().ok());
  training.Clock(std::nullopt);
  training.Sync(w, Into(usable), env.clock.now);
  due.Run();
  EXPECT_FALSE(usable.has_value());
  EXPECT_EQ(training.waits().open(), 1U);
  env.Advance(std::chrono::seconds(2));
  Answer(0, 2);
  ASSERT_TRUE(usable.has_value() && usable->ok());
  EXPECT_EQ(training.waits().open(), 0U);
  EXPECT_EQ(counters.wait_by_ns.at("server.0"), 2'000'000'000U);
}

TEST_F(TrainingTest, TheAccountOfOverlapHasWhatWasHiddenAndWhatWasWaitedFor) {
  Start();
  const TimePoint asked = env.clock.now;
  env.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(training.Push(w, {gradient, nullptr, {}, 1, asked}, Into(pushed)).ok());
  env.Advance(std::chrono::seconds(4));
  training.Clock(std::nullopt);
  training.Sync(w, Into(usable), TimePoint::max());
  env.Advance(std::chrono::seconds(2));
  Answer(0, 2);
  const OverlapTimes times = training.overlap().Of(w);
  EXPECT_EQ(times.communication, std::chrono::seconds(7));
  EXPECT_EQ(times.wire, std::chrono::seconds(2));
  EXPECT_EQ(times.queue + times.held, Duration::zero());
  EXPECT_EQ(times.pushes, 1U);
  EXPECT_EQ(times.delay, std::chrono::seconds(1));
  EXPECT_EQ(training.overlap().Total(env.clock.now).communication, times.communication);
}

TEST_F(TrainingTest, TheTimeThatTheModelHeldThePullIsToldApartFromTheWayAndTheServer) {
  Start();
  ASSERT_TRUE(Push().ok());
  training.Clock(std::nullopt);
  training.Sync(w, Into(usable), env.clock.now);
  env.Advance(std::chrono::seconds(5));
  Answer(0, 2, /*held_us=*/3'000'000);
  ASSERT_TRUE(usable.has_value() && usable->ok());
  EXPECT_EQ(training.overlap().Of(w).held, std::chrono::seconds(3));
  EXPECT_EQ(training.overlap().Of(w).wire, std::chrono::seconds(2));
}

TEST_F(TrainingTest, WithoutOverlapPullsWaitForTheBarrier) {
  JobOptions job;
  job.overlap = false;
  Start(job);
  ASSERT_TRUE(Push().ok());
  training.Clock(std::nullopt);
  EXPECT_THAT(Sent(), ElementsAre(wire::Kind::kPush));
  EXPECT_EQ(barriers, 0) << "the push has no verdict";
  Verdict(1);
  EXPECT_EQ(barriers, 1);
  training.LeaveBarrier();
  training.OnStepped();
  EXPECT_THAT(Sent(), ElementsAre(wire::Kind::kPull));
}

TEST_F(TrainingTest, BoundedHoldsAnIterationBackUntilItsVerdictsAreHere) {
  JobOptions job;
  job.sync = "bounded:0";
  Start(job);
  EXPECT_TRUE(gated.back());
  ASSERT_TRUE(Push().ok());
  training.Clock(std::nullopt);
  training.Sync(w, Into(usable), env.clock.now);
  Answer(0, 2);
  EXPECT_FALSE(usable.has_value());
  Verdict(1);
  EXPECT_TRUE(usable.has_value() && usable->ok());
}

TEST_F(TrainingTest, AWorkerThatLeavesPushesItsSum) {
  JobOptions job;
  job.exchange = "every:8";
  Start(job);
  ASSERT_TRUE(Push().ok());
  EXPECT_THAT(Sent(), ElementsAre(wire::Kind::kAbsent));
  EXPECT_TRUE(training.LacksAt(Iteration(0)));
  training.Clock(std::nullopt);
  training.Leave();
  EXPECT_THAT(Sent(), ElementsAre(wire::Kind::kPush));
  EXPECT_EQ(training.end(), Iteration(2));
}

TEST_F(TrainingTest, FinalValuesAreThoseOfAPullAfterAllOthers) {
  Start();
  training.Leave();
  training.OnLeft();
  EXPECT_FALSE(training.final_asked());
  training.PullFinal();
  EXPECT_THAT(Sent(), ElementsAre(wire::Kind::kPull));
  EXPECT_FALSE(training.HasFinal());
  Answer(1, 3);
  EXPECT_TRUE(training.HasFinal());
}

TEST_F(TrainingTest, AFailureReachesEveryWaitAndEveryLoan) {
  Start();
  ASSERT_TRUE(Push().ok());
  env.transport.sent.clear();
  training.Clock(std::nullopt);
  training.Sync(w, Into(usable), env.clock.now);
  training.FailAll(Unavailable("gone"));
  due.Run();
  ASSERT_TRUE(usable.has_value() && pushed.has_value());
  EXPECT_EQ(usable->message(), "gone");
  EXPECT_EQ(pushed->message(), "gone");
}

}  // namespace
}  // namespace leeway
