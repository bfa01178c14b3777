// A worker that has waited for long asks its peers why, once and not for long.
#include "node/worker/testing/worker_rig.h"

namespace leeway::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WorkerStallTest : public WorkerRig {
 protected:
  void Explain() {
    node->ExplainWait([this](const std::string& why, bool members) {
      for_members = members;
      EXPECT_TRUE(text.empty()) << "said twice";
      text = why;
    });
  }
  std::vector<wire::pb::Why> Asked(ConnectionId id) {
    std::vector<wire::pb::Why> asked;
    for (const SentFrame& frame : env.transport.TakeSent(id, wire::Kind::kWhy))
      asked.push_back(ParseAs<wire::pb::Why>(frame));
    return asked;
  }
  // The worker waits for values of table w in iteration 1: block 0 on shard 0 first.
  void WaitForValues() {
    StartTables();
    ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
    ASSERT_TRUE(node->Clock().ok());
    node->Sync(w, {});
    env.transport.sent.clear();
  }
  void ReplyOfShard(std::uint64_t request) {
    wire::pb::WhyReply reply;
    reply.set_request(request);
    reply.set_known(true);
    reply.set_initialized(true);
    reply.set_delayed(true);
    reply.set_v_train(0);
    reply.add_missing(0);
    Control(shard[0], wire::Kind::kWhyReply, reply);
  }
  void ReplyOfScheduler(std::uint64_t request) {
    wire::pb::WhyReply reply;
    reply.set_request(request);
    wire::pb::Standing& who = *reply.add_standings();
    who.set_rank(0);
    who.set_state("suspect");
    who.set_iteration(0);
    who.set_silent_s(7);
    Control(scheduler, wire::Kind::kWhyReply, reply);
  }

  std::string text;
  bool for_members = false;
};

TEST_F(WorkerStallTest, AsksTheShardForWhomAndTheSchedulerHowThatOneIs) {
  WaitForValues();
  Explain();
  const auto of_shard = Asked(shard[0]);
  ASSERT_EQ(of_shard.size(), 1U);
  EXPECT_EQ(of_shard[0].block(), 0U);
  EXPECT_THAT(Asked(scheduler), IsEmpty());
  ReplyOfShard(of_shard[0].request());
  const auto of_scheduler = Asked(scheduler);
  ASSERT_EQ(of_scheduler.size(), 1U);
  ASSERT_EQ(of_scheduler[0].ranks_size(), 1);
  EXPECT_EQ(of_scheduler[0].ranks(0), 0U);
  EXPECT_THAT(text, IsEmpty());
  ReplyOfScheduler(of_scheduler[0].request());
  EXPECT_THAT(text, AllOf(HasSubstr("table \"w\" block 0 on server 0 shard 0: values for iteration 1"),
                          HasSubstr("it lacks worker 0"), HasSubstr("last heard of 7.0 s ago"),
                          HasSubstr("what to do: ")));
}

TEST_F(WorkerStallTest, PeersThatDoNotAnswerAreNotWaitedFor) {
  WaitForValues();
  Explain();
  env.Advance(std::chrono::milliseconds(1100));
  EXPECT_THAT(text, AllOf(HasSubstr("server 0 shard 0 is connected and does not say why"),
                          HasSubstr("what to do: look at the log and the load of server 0 shard 0")));
  ReplyOfShard(1);  // too late: nothing happens
  EXPECT_THAT(Asked(scheduler), IsEmpty());
}

TEST_F(WorkerStallTest, ASchedulerThatDoesNotAnswerLeavesWhatTheShardSaid) {
  WaitForValues();
  Explain();
  ReplyOfShard(Asked(shard[0]).at(0).request());
  env.Advance(std::chrono::milliseconds(1100));
  EXPECT_THAT(text, HasSubstr("it lacks worker 0"));
}

TEST_F(WorkerStallTest, ALostServerIsSaidAtOnce) {
  WaitForValues();
  (void)env.transport.Lose(shard[0]);
  Explain();
  EXPECT_THAT(text,
              AllOf(HasSubstr("not connected, last heard of"), HasSubstr("server 0 shard 0 is not connected"),
                    HasSubstr("what to do: see whether server 0 shard 0 runs")));
}

TEST_F(WorkerStallTest, AVerdictIsAskedForWhereItsPushIs) {
  StartTables();
  ASSERT_TRUE(node->Push(c, Lend(std::span(gradient).first(2)), {}).ok());
  env.transport.sent.clear();
  Explain();
  const auto asked = Asked(shard[1]);
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].block(), 3U);
  env.Advance(std::chrono::milliseconds(1100));
  EXPECT_THAT(text, HasSubstr("the verdict on push 1"));
}

TEST_F(WorkerStallTest, OnlyAPushThatWasSentBackIsUpToMembers) {
  StartTables();
  ASSERT_TRUE(node->Clock().ok());
  ASSERT_TRUE(node->Push(w, Lend(gradient), {}).ok());
  Verdict(0, 0, 1, wire::Verdict::kAbsent);
  const auto is_for_members = [this] {
    text.clear();
    env.transport.sent.clear();
    Explain();
    ReplyOfShard(Asked(shard[0]).at(0).request());
    env.Advance(std::chrono::milliseconds(1100));
    EXPECT_THAT(text, HasSubstr("the verdict on push 2"));
    return for_members;
  };
  EXPECT_FALSE(is_for_members());
  Verdict(0, 0, 2, wire::Verdict::kWindow);
  EXPECT_TRUE(is_for_members());
}

TEST_F(WorkerStallTest, AReadIsUpToItsServer) {
  StartTables();
  node->ReadArrays(w, ArraysWanted::kState, [](const Status&, const TableState&) {});
  env.transport.sent.clear();
  Explain();
  ReplyOfShard(Asked(shard[0]).at(0).request());
  env.Advance(std::chrono::milliseconds(1100));
  EXPECT_THAT(text, HasSubstr("its arrays to be read"));
  EXPECT_FALSE(for_members);
}

TEST_F(WorkerStallTest, ABarrierIsAskedForAtTheScheduler) {
  StartTables();
  node->Barrier("epoch", {});
  Explain();
  const auto asked = Asked(scheduler);
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_TRUE(asked[0].at_barrier());
  EXPECT_EQ(asked[0].barrier(), "epoch");
  wire::pb::WhyReply reply;
  reply.set_request(asked[0].request());
  reply.add_missing(0);
  Control(scheduler, wire::Kind::kWhyReply, reply);
  EXPECT_THAT(text, AllOf(HasSubstr("barrier \"epoch\""), HasSubstr("it lacks worker 0")));
}

TEST_F(WorkerStallTest, ALostSchedulerIsSaidAtOnce) {
  StartTables();
  node->Barrier("epoch", {});
  (void)env.transport.Lose(scheduler);
  Explain();
  EXPECT_THAT(text, AllOf(HasSubstr("the scheduler is not connected"),
                          HasSubstr("what to do: see whether the scheduler runs")));
}

TEST_F(WorkerStallTest, AGatheringIsAskedForAtTheScheduler) {
  BeginJoin();
  Explain();
  const auto asked = Asked(scheduler);
  ASSERT_EQ(asked.size(), 1U);
  wire::pb::WhyReply reply;
  reply.set_request(asked[0].request());
  reply.set_not_here("worker 0");
  Control(scheduler, wire::Kind::kWhyReply, reply);
  EXPECT_THAT(text, AllOf(HasSubstr("all 2 workers and 2 servers to join"), HasSubstr("it lacks worker 0")));
}

TEST_F(WorkerStallTest, WhoWaitsForNothingSaysSo) {
  StartTables();
  Explain();
  EXPECT_EQ(text, "nothing of the job (any more)");
}

TEST_F(WorkerStallTest, TheEndOfTheWorkerDropsTheQuestion) {
  WaitForValues();
  Explain();
  node->Abandon(Cancelled("enough"));
  env.Advance(std::chrono::seconds(5));
  EXPECT_THAT(text, IsEmpty());
}

}  // namespace
}  // namespace leeway::testing
