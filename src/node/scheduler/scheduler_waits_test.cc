// Workers that wait for others, as the scheduler sees them.
#include "node/scheduler/testing/hand_fed_scheduler.h"

namespace leeway::testing {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class SchedulerWaitsTest : public HandFedScheduler {
 protected:
  void Report(ConnectionId id, bool waits, std::uint64_t acts = 1) {
    wire::pb::Report report;
    report.set_waits(waits);
    report.set_acts(acts);
    ASSERT_TRUE(world.transport.DeliverControl(id, Kind::kReport, report).ok());
  }
  // Answers every question of the scheduler as a worker that waits for this.
  void AnswerAll(ConnectionId id, const wire::pb::OpenWait& wait) {
    for (const auto& why : Take<wire::pb::Why>(id, Kind::kWhy)) {
      ++questions;
      wire::pb::WhyReply reply;
      reply.set_request(why.request());
      reply.set_acts(1);
      reply.set_waits(true);
      reply.set_settled(true);
      *reply.add_open() = wait;
      ASSERT_TRUE(world.transport.DeliverControl(id, Kind::kWhyReply, reply).ok());
    }
  }
  [[nodiscard]] static wire::pb::OpenWait AtBarrier(const std::string& name) {
    wire::pb::OpenWait wait;
    wait.set_what("barrier \"" + name + "\"");
    wait.set_at_barrier(true);
    wait.set_barrier(name);
    return wait;
  }
  [[nodiscard]] static wire::pb::OpenWait ForGradientOf(std::uint32_t rank) {
    wire::pb::OpenWait wait;
    wait.set_what("the values of table \"w\" for iteration 4");
    wait.add_missing(rank);
    return wait;
  }
  void CallBarrier(ConnectionId id, const std::string& name) {
    wire::pb::Barrier barrier;
    barrier.set_name(name);
    barrier.set_round(1);
    ASSERT_TRUE(world.transport.DeliverControl(id, Kind::kBarrier, barrier).ok());
  }
  // Worker 0 computes and says so; worker 1 waits for its gradient.
  void WorkerZeroComputes(Duration time) {
    for (Duration at{}; at < time && ended.empty(); at += seconds(1)) {
      if (world.transport.IsOpen(w0)) Report(w0, false);
      Report(w1, true);
      PassTime(seconds(1));
      AnswerAll(w1, ForGradientOf(0));
    }
  }

  int questions = 0;
};

TEST_F(SchedulerWaitsTest, AJobWhoseMembersWaitForEachOtherEndsWithBothSidesAndTheCure) {
  GatherAll();
  CallBarrier(w0, "epoch");
  for (int i = 0; i < 12; ++i) {
    Report(w0, true);
    Report(w1, true);
    PassTime(seconds(1));
    if (State()["phase"] == "ended") break;
    AnswerAll(w0, AtBarrier("epoch"));
    AnswerAll(w1, ForGradientOf(0));
  }
  EXPECT_EQ(State()["phase"], "ended");
  EXPECT_EQ(questions, 6) << "three rounds";
  for (const ConnectionId id : {w0, w1}) {
    const auto end = Take<wire::pb::JobEnd>(id, Kind::kJobEnd);
    ASSERT_EQ(end.size(), 1U);
    EXPECT_EQ(static_cast<StatusCode>(end[0].code()), StatusCode::kFailedPrecondition);
    EXPECT_THAT(
        end[0].message(),
        AllOf(HasSubstr("worker 0 waits for barrier \"epoch\", which needs worker 1"),
              HasSubstr("worker 1 waits for the values of table \"w\" for iteration 4, which needs worker 0"),
              HasSubstr("join()"), HasSubstr("drop_last=True"), HasSubstr("BatchPool")));
  }
}

TEST_F(SchedulerWaitsTest, ABarrierThatAllHaveComeToIsNoStandstill) {
  GatherAll();
  for (int i = 0; i < 12; ++i) {
    Report(w0, true);
    Report(w1, true);
    PassTime(seconds(1));
    AnswerAll(w0, AtBarrier("epoch"));  // the word that it is over is under way
    AnswerAll(w1, ForGradientOf(0));
  }
  EXPECT_GT(questions, 6);
  EXPECT_EQ(State()["phase"], "running");
}

TEST_F(SchedulerWaitsTest, AWorkerThatComputesIsWaitedForAndNamedEveryMinute) {
  GatherAll();
  WorkerZeroComputes(seconds(700));
  EXPECT_EQ(State()["phase"], "running");
  EXPECT_EQ(State()["workers"][0]["state"], "joined");
  const auto named = std::ranges::count_if(world.log.lines, [](const std::string& line) {
    return line.find("worker 0 (process 42 on box) is waited for: it has made no call for ") !=
           std::string::npos;
  });
  EXPECT_GE(named, 10);
  EXPECT_LE(named, 12);
  EXPECT_THAT(world.log.lines, Contains(AllOf(HasSubstr("and worker 1 has waited for it for up to "),
                                              HasSubstr("the others go on waiting (--wait-max TIME"))));
}

TEST_F(SchedulerWaitsTest, AWorkerThatMakesNoCallForWaitMaxIsDeclaredDeadWithItsReason) {
  options.wait_max = seconds(20);
  GatherAll();
  WorkerZeroComputes(seconds(19));
  EXPECT_EQ(State()["workers"][0]["state"], "joined");
  WorkerZeroComputes(seconds(4));
  const auto lost = State()["workers"][0];
  EXPECT_EQ(lost["state"], "dead");
  EXPECT_THAT(lost["lost_because"].get<std::string>(),
              AllOf(HasSubstr("it has made no call for 2"), HasSubstr("worker 1 has waited for it"),
                    HasSubstr("--wait-max is 20.0 s")));
  EXPECT_FALSE(world.transport.IsOpen(w0)) << "it must not go on";
  EXPECT_EQ(State()["workers"][1]["state"], "joined");
}

TEST_F(SchedulerWaitsTest, AWorkerThatMakesCallsIsNeverGivenUp) {
  options.wait_max = seconds(5);
  GatherAll();
  for (std::uint64_t acts = 1; acts < 30; ++acts) {
    Report(w0, false, acts);
    Report(w1, true);
    PassTime(seconds(1));
    AnswerAll(w1, ForGradientOf(0));
  }
  EXPECT_EQ(State()["workers"][0]["state"], "joined");
}

TEST_F(SchedulerWaitsTest, NobodyIsGivenUpForWhomNobodyWaits) {
  options.wait_max = seconds(5);
  GatherAll();
  for (int i = 0; i < 30; ++i) {
    Report(w0, false);
    Report(w1, false);
    PassTime(seconds(1));
  }
  EXPECT_EQ(State()["workers"][0]["state"], "joined");
  EXPECT_THAT(Take<wire::pb::Why>(w0, Kind::kWhy), IsEmpty());
}

TEST_F(SchedulerWaitsTest, AWorkersOwnLimitBeatsTheJobs) {
  options.wait_max = seconds(5);
  StartNode();
  wire::pb::Hello hello = BaseHello(wire::pb::ROLE_WORKER, 100);
  hello.set_rank(0);
  hello.set_wait_max_ms(0);
  w0 = SayHello(hello);
  w1 = HelloWorker(1, 101);
  s0 = HelloShard(0, 200);
  s1 = HelloShard(1, 201);
  world.transport.sent.clear();
  AckAll(1);
  WorkerZeroComputes(seconds(30));
  EXPECT_EQ(State()["workers"][0]["state"], "joined") << "0: no limit";
}

TEST_F(SchedulerWaitsTest, AWorkerThatGaveUpAWaitIsLostWithItsReason) {
  GatherAll();
  SayGoodbye(w0, StatusCode::kDeadlineExceeded);
  EXPECT_THAT(State()["workers"][0]["lost_because"].get<std::string>(), HasSubstr("my own reason"));
  EXPECT_THAT(State()["workers"][1]["lost_because"].get<std::string>(), Not(HasSubstr("reason")));
}

}  // namespace
}  // namespace leeway::testing
