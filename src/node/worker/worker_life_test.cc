// A worker node's life: joining, requests to the scheduler, leaving, finishing, failing. Hand-fed.
#include "node/worker/testing/worker_rig.h"

namespace leeway::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WorkerLifeTest : public WorkerRig {
 protected:
  std::size_t SentToScheduler(wire::Kind kind) { return env.transport.TakeSent(scheduler, kind).size(); }
  void ReconnectScheduler() {
    (void)env.transport.Lose(scheduler);
    env.transport.sent.clear();
    env.Advance(std::chrono::milliseconds(50));
    scheduler = env.transport.CompleteConnect();
    WelcomeAtScheduler();
  }
};

TEST_F(WorkerLifeTest, JoiningNeedsEverybodyAndEveryShard) {
  BeginJoin();
  EXPECT_FALSE(joined.has_value());
  EXPECT_THAT(node->WaitingFor(), HasSubstr("all 2 workers and 2 servers"));
  SendRoster(1, {{0}, {kRank}});
  EXPECT_THAT(node->WaitingFor(), HasSubstr("a connection to server 0 shard 0"));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_FALSE(joined.has_value());
    shard[i] = env.transport.connects[1 + i].first;
    env.transport.Complete(shard[i]);
    const auto hello = ParseAs<wire::pb::Hello>(env.transport.TakeSent(shard[i]).at(0));
    EXPECT_EQ(hello.rank(), kRank);
    EXPECT_EQ(hello.incarnation(), 1U);
    WelcomeAtShard(i);
  }
  ASSERT_TRUE(joined.has_value() && joined->ok());
  EXPECT_EQ(node->rank(), WorkerId(kRank));
  EXPECT_EQ(node->job().workers, 2U);
}

TEST_F(WorkerLifeTest, ARefusedHelloIsTheEnd) {
  node->Join(Into(joined));
  scheduler = env.transport.CompleteConnect();
  wire::pb::Welcome welcome;
  welcome.set_version(wire::kVersionMax);
  welcome.set_error("rank 1 is taken");
  welcome.set_error_code(static_cast<std::uint32_t>(StatusCode::kAlreadyExists));
  EXPECT_TRUE(Welcome(env.transport, scheduler, welcome).ok());
  ASSERT_TRUE(joined && failed);
  EXPECT_EQ(joined->code(), StatusCode::kAlreadyExists);
  EXPECT_THAT(failed->message(), HasSubstr("rank 1 is taken"));
}

TEST_F(WorkerLifeTest, RulesAreSetOneAfterTheOther) {
  StartTables();
  std::vector<std::uint32_t> set;
  for (const char* rule : {"sync=asp", "sync=ssp:2"}) {
    node->SetSync(rule, [&set](const Status& status, std::uint32_t tables) {
      EXPECT_TRUE(status.ok()) << status.ToString();
      set.push_back(tables);
    });
  }
  EXPECT_EQ(env.transport.TakeSent(scheduler, wire::Kind::kSetSync).size(), 1U);
  ReconnectScheduler();
  const std::vector<SentFrame> again = env.transport.TakeSent(scheduler, wire::Kind::kSetSync);
  ASSERT_EQ(again.size(), 1U);
  wire::pb::SetSyncReply reply;
  reply.set_request(ParseAs<wire::pb::SetSync>(again[0]).request());
  reply.set_tables(4);
  Control(scheduler, wire::Kind::kSetSyncReply, reply);
  Control(scheduler, wire::Kind::kSetSyncReply, reply);
  EXPECT_THAT(set, ElementsAre(4));
  EXPECT_EQ(env.transport.TakeSent(scheduler, wire::Kind::kSetSync).size(), 1U) << "the second, once";
}

TEST_F(WorkerLifeTest, RequestsAreSentAgainWhenTheSchedulerIsBackAndAnsweredOnce) {
  StartTables();
  std::optional<Status> passed, leased;
  BatchLease lease;
  node->Barrier("epoch", Into(passed));
  node->LeaseBatches("pool", 10, 2, {}, [&](const Status& status, const BatchLease& got) {
    leased = status;
    lease = got;
  });
  EXPECT_THAT(node->WaitingFor(), HasSubstr("barrier \"epoch\" (round 1)"));
  ReconnectScheduler();
  const std::vector<SentFrame> again = env.transport.TakeSent(scheduler);
  ASSERT_EQ(again.size(), 3U);
  EXPECT_EQ(again[1].kind, wire::Kind::kBarrier);
  EXPECT_EQ(again[2].kind, wire::Kind::kLeaseBatches);
  wire::pb::BarrierDone done;
  done.set_name("epoch");
  done.set_round(1);
  Control(scheduler, wire::Kind::kBarrierDone, done);
  Control(scheduler, wire::Kind::kBarrierDone, done);
  EXPECT_TRUE(passed.has_value() && passed->ok());
  wire::pb::BatchLease answer;
  answer.set_request(ParseAs<wire::pb::LeaseBatches>(again[2]).request());
  answer.add_batches(4);
  answer.add_batches(7);
  Control(scheduler, wire::Kind::kBatchLease, answer);
  ASSERT_TRUE(leased.has_value() && leased->ok());
  EXPECT_THAT(lease.batches, ElementsAre(4, 7));
  ReconnectScheduler();
  EXPECT_EQ(env.transport.TakeSent(scheduler).size(), 1U) << "only the hello";
  // The next request gives the batches leased before back as done.
  node->LeaseBatches("pool", 10, 2, {}, [](const Status&, const BatchLease&) {});
  const auto next = ParseAs<wire::pb::LeaseBatches>(env.transport.TakeSent(scheduler).at(0));
  EXPECT_THAT(std::vector<std::uint64_t>(next.done().begin(), next.done().end()), ElementsAre(4, 7));
}

TEST_F(WorkerLifeTest, ASecondLeaseOfAPoolTakesOverTheOpenOne) {
  StartTables();
  (void)env.transport.TakeSent(scheduler);
  std::optional<Status> first;
  BatchLease lease;
  node->LeaseBatches("pool", 10, 2, {}, [&](const Status& status, const BatchLease&) { first = status; });
  node->LeaseBatches("pool", 10, 2, {}, [&](const Status&, const BatchLease& got) { lease = got; });
  const std::vector<SentFrame> sent = env.transport.TakeSent(scheduler);
  ASSERT_EQ(sent.size(), 1U) << "the scheduler keeps one answer of a pool to repeat";
  wire::pb::BatchLease answer;
  answer.set_request(ParseAs<wire::pb::LeaseBatches>(sent[0]).request());
  answer.add_batches(4);
  Control(scheduler, wire::Kind::kBatchLease, answer);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->code(), StatusCode::kCancelled);
  EXPECT_THAT(lease.batches, ElementsAre(4));
}

TEST_F(WorkerLifeTest, LeavingWaitsForEveryVerdict) {
  StartTables();
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  std::optional<Status> left;
  node->Leave(Into(left));
  EXPECT_EQ(SentToScheduler(wire::Kind::kLeave), 0U);
  EXPECT_THAT(node->WaitingFor(), HasSubstr("the verdict on push 1 of iteration 0"));
  Verdict(0, 0, 1, wire::Verdict::kSummed);
  EXPECT_EQ(SentToScheduler(wire::Kind::kLeave), 0U);
  Verdict(1, 1, 1, wire::Verdict::kSummed);
  EXPECT_EQ(SentToScheduler(wire::Kind::kLeave), 1U);
  EXPECT_FALSE(left.has_value());
  ReconnectScheduler();
  EXPECT_EQ(SentToScheduler(wire::Kind::kLeave), 1U) << "until it is confirmed";
  Left(2);
  EXPECT_TRUE(left.has_value() && left->ok());
  EXPECT_EQ(node->Push(w, Lend(gradient), {}).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(node->Clock().code(), StatusCode::kFailedPrecondition);
}

TEST_F(WorkerLifeTest, OpenPullsAreAskedAgainAsAnObserver) {
  StartTables();
  ASSERT_TRUE(node->Clock().ok());
  for (const auto& [on, block] : {std::pair(0, 0U), {1, 1U}, {0, 2U}}) {
    Verdict(static_cast<std::size_t>(on), block, 1, wire::Verdict::kAbsent);
  }
  env.transport.sent.clear();
  node->Leave({});
  Left(5);
  const std::vector<SentFrame> pulls = env.transport.TakeSent(shard[0], wire::Kind::kPull);
  ASSERT_EQ(pulls.size(), 1U);
  const auto pull = DecodeAs<wire::Pull>(pulls[0]);
  EXPECT_EQ(pull.flags, wire::Pull::kObserver | wire::Pull::kByPriority);
  EXPECT_EQ(pull.epoch_min, Epoch(5));
  EXPECT_EQ(pull.entries.size(), 2U);
}

TEST_F(WorkerLifeTest, FinishWaitsForTheLastMemberAndPullsFinalValuesOfAllTables) {
  StartTables();
  std::optional<Status> finished;
  node->Leave({});
  Left(2);
  SendRoster(2, {{0}, {kRank, true}});
  env.transport.sent.clear();
  node->Finish(Into(finished));
  EXPECT_THAT(Sent(0), IsEmpty());
  EXPECT_THAT(node->WaitingFor(), HasSubstr("workers 0 to leave the job"));
  SendRoster(3, {{0, true}, {kRank, true}});
  EXPECT_THAT(Sent(0), ElementsAre("Pull 0@1,2@1"));
  const std::vector<SentFrame> pulls = env.transport.TakeSent(shard[1], wire::Kind::kPull);
  ASSERT_EQ(pulls.size(), 1U);
  const auto pull = DecodeAs<wire::Pull>(pulls[0]);
  EXPECT_EQ(pull.flags, wire::Pull::kObserver | wire::Pull::kByPriority);
  EXPECT_EQ(pull.epoch_min, Epoch(3));
  EXPECT_EQ(pull.entries.size(), 2U) << "also the table with its own clock";
  Answer(0, 0, 1, 9, {7, 7});
  Answer(0, 2, 1, 1);
  Answer(1, 1, 1, 9, {8, 8});
  EXPECT_FALSE(finished.has_value());
  EXPECT_THAT(env.transport.TakeSent(scheduler, wire::Kind::kReport), IsEmpty());
  Answer(1, 3, 0, 4, {6, 6});
  ASSERT_TRUE(finished.has_value());
  const std::vector<SentFrame> reports = env.transport.TakeSent(scheduler, wire::Kind::kReport);
  ASSERT_EQ(reports.size(), 1U) << "the scheduler hears that no server is needed any more";
  EXPECT_TRUE(ParseAs<wire::pb::Report>(reports[0]).has_final());
  EXPECT_TRUE(finished->ok());
  EXPECT_TRUE(w_pair.Take() && c_pair.Take());
  EXPECT_THAT(Copy(w_pair), ElementsAre(7, 7, 8, 8));
  EXPECT_THAT(Copy(c_pair), ElementsAre(6, 6));
  std::optional<Status> down;
  node->Shutdown(Into(down));
  EXPECT_TRUE(down.has_value() && down->ok());
  EXPECT_EQ(env.transport.open(), 0U);
  EXPECT_FALSE(failed.has_value());
}

TEST_F(WorkerLifeTest, AWorkerDeclaredDeadIsFenced) {
  StartTables();
  SendRoster(2, {{0}, {kRank, true, true}});
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->code(), StatusCode::kFenced);
}

TEST_F(WorkerLifeTest, TheEndOfTheJobWithAnErrorReachesEveryPendingCall) {
  StartTables();
  std::optional<Status> passed;
  node->Barrier("b", Into(passed));
  wire::pb::JobEnd end;
  end.set_code(static_cast<std::uint32_t>(StatusCode::kUnavailable));
  end.set_message("server 1 is gone");
  Control(scheduler, wire::Kind::kJobEnd, end);
  ASSERT_TRUE(passed && failed);
  EXPECT_EQ(passed->message(), "server 1 is gone");
}

TEST_F(WorkerLifeTest, AbandonSaysGoodbyeWithTheReason) {
  StartTables();
  std::optional<Status> done;
  ASSERT_TRUE(node->Push(w, Lend(gradient), Into(done)).ok());
  env.transport.sent.clear();
  node->Abandon(Cancelled("the script raised"));
  const std::vector<SentFrame> sent = env.transport.TakeSent(scheduler, wire::Kind::kGoodbye);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(ParseAs<wire::pb::Goodbye>(sent[0]).message(), "the script raised");
  EXPECT_TRUE(done.has_value() && failed.has_value());
}

TEST_F(WorkerLifeTest, BeatsCarryFiguresAndWhatTheWorkerWaitsFor) {
  StartTables();
  ASSERT_TRUE(node->Clock().ok());
  node->SetFigure("samples", 320);
  node->Sync(w, {});
  env.transport.sent.clear();
  env.Advance(std::chrono::milliseconds(1100));
  const std::vector<SentFrame> reports = env.transport.TakeSent(scheduler, wire::Kind::kReport);
  ASSERT_EQ(reports.size(), 1U);
  const auto report = ParseAs<wire::pb::Report>(reports[0]);
  EXPECT_EQ(report.iteration(), 1);
  EXPECT_EQ(report.values().at("samples"), 320);
  EXPECT_EQ(report.values().at("pushes"), 3);
  EXPECT_THAT(report.waiting_for(), HasSubstr("table \"w\" block 0"));
}

}  // namespace
}  // namespace leeway::testing
