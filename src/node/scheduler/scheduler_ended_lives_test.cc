// Lives of workers that end without leaving: what becomes of their batches, and which of their pushes count
// as lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "node/scheduler/testing/hand_fed_scheduler.h"

namespace leeway::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using wire::Kind;

class SchedulerEndedLivesTest : public HandFedScheduler {
 protected:
  void AskForBatches(ConnectionId worker, std::uint32_t wanted, std::int64_t iteration,
                     const std::string& pool = "p") {
    wire::pb::LeaseBatches request;
    request.set_pool(pool);
    request.set_batches(8);
    request.set_wanted(wanted);
    request.set_request(++requests);
    request.set_iteration(iteration);
    ASSERT_TRUE(world.transport.DeliverControl(worker, Kind::kLeaseBatches, request).ok());
  }
  std::vector<std::uint64_t> Given(ConnectionId worker) {
    const auto leases = Take<wire::pb::BatchLease>(worker, Kind::kBatchLease);
    if (leases.size() != 1) return {};
    return {leases[0].batches().begin(), leases[0].batches().end()};
  }
  // A shard of two blocks, one of which may have been taken back to a checkpoint, holds so much of worker 1.
  void AckHolding(ConnectionId shard, std::int64_t whole, std::int64_t patched) {
    wire::pb::EpochAck ack;
    ack.set_epoch(State()["epoch"]);
    wire::pb::Held& held = *ack.add_held();
    held.set_worker(1);
    held.set_incarnation(1);
    held.set_highest(std::max(whole, patched));
    held.mutable_whole()->set_blocks(1);
    held.mutable_whole()->set_sum(whole);
    held.mutable_patched()->set_blocks(1);
    held.mutable_patched()->set_sum(patched);
    ASSERT_TRUE(world.transport.DeliverControl(shard, Kind::kEpochAck, ack).ok());
  }
  std::uint64_t requests = 0;
};

TEST_F(SchedulerEndedLivesTest, BatchesThatNoBlockHasGoToTheOthersOnceEveryShardHasSaidSo) {
  GatherAll();
  AskForBatches(w1, 2, 7);
  EXPECT_THAT(Given(w1), ElementsAre(0, 1)) << "for iterations 7 and 8";
  (void)Take<wire::pb::Roster>(s0, Kind::kRoster);
  SayGoodbye(w1, StatusCode::kInternal);
  const auto rosters = Take<wire::pb::Roster>(s0, Kind::kRoster);
  ASSERT_EQ(rosters.size(), 1U);
  ASSERT_EQ(rosters[0].ended_size(), 1) << "the shards are asked what they hold of it";
  EXPECT_EQ(rosters[0].ended(0).worker(), 1U);
  for (const std::size_t given : {3U, 2U, 1U}) {
    AskForBatches(w0, 4, 9);
    EXPECT_EQ(Given(w0).size(), given);
  }
  AskForBatches(w0, 4, 9);
  EXPECT_THAT(Given(w0), IsEmpty()) << "it waits: perhaps something comes back";
  AckHolding(s0, 7, 7);
  EXPECT_THAT(Given(w0), IsEmpty());
  AckHolding(s1, 7, 6);
  EXPECT_THAT(Given(w0), ElementsAre(1)) << "the gradient of batch 0 is in three of four blocks";
  EXPECT_EQ(State()["pools"][0]["done"], 1);
}

TEST_F(SchedulerEndedLivesTest, ARequestOfEachPoolWaitsByItself) {
  GatherAll();
  for (const char* const pool : {"p", "q"}) {
    for (int i = 0; i < 8; ++i) AskForBatches(w1, 8, 7, pool);
  }
  SayGoodbye(w1, StatusCode::kInternal);
  AskForBatches(w0, 1, 9, "p");
  AskForBatches(w0, 1, 9, "q");
  EXPECT_THAT(Take<wire::pb::BatchLease>(w0, Kind::kBatchLease), IsEmpty());
  AckHolding(s0, 6, 6);
  AckHolding(s1, 6, 6);
  EXPECT_EQ(Take<wire::pb::BatchLease>(w0, Kind::kBatchLease).size(), 2U);
}

TEST_F(SchedulerEndedLivesTest, WhatTheBlocksLackOfADeadWorkerIsCounted) {
  GatherAll();
  wire::pb::Report report;
  report.set_iteration(12);
  report.set_settled(11);
  ASSERT_TRUE(world.transport.DeliverControl(w1, Kind::kReport, report).ok());
  SayGoodbye(w1, StatusCode::kInternal);
  AckHolding(s0, 9, 4);
  AckHolding(s1, 8, 10);
  EXPECT_EQ(State()["lacking"]["lost"], 6) << "iterations 5 to 10 of one block";
  EXPECT_EQ(State()["lacking"]["torn"], 3) << "10 of one block, 9 and 10 of another";
}

TEST_F(SchedulerEndedLivesTest, TheEndOfTheJobWaitsForWhatTheBlocksLack) {
  GatherAll();
  SayGoodbye(w1, StatusCode::kInternal);
  AckHolding(s0, 9, 4);
  Leave(w0);
  SayGoodbye(w0);
  EXPECT_EQ(State()["phase"], "running") << "server 1 has not said what it holds of worker 1";
  AckHolding(s1, 9, 9);
  EXPECT_EQ(State()["phase"], "ended");
  EXPECT_EQ(State()["lacking"]["lost"], 5);
}

TEST_F(SchedulerEndedLivesTest, AServerThatDoesNotAnswerHoldsUpTheEndForATime) {
  GatherAll();
  SayGoodbye(w1, StatusCode::kInternal);
  Leave(w0);
  SayGoodbye(w0);
  PassTime(options.expel_after - std::chrono::seconds(1));
  EXPECT_EQ(State()["phase"], "running");
  PassTime(std::chrono::seconds(2));
  EXPECT_EQ(State()["phase"], "ended");
  EXPECT_THAT(world.log.lines, Contains(HasSubstr("more pushes may be lost than were counted")));
}

TEST_F(SchedulerEndedLivesTest, AServerThatIsGoneHoldsUpNoEnd) {
  GatherAll();
  SayGoodbye(w1, StatusCode::kInternal);
  Leave(w0);
  SayGoodbye(w0);
  EXPECT_EQ(State()["phase"], "running");
  SayGoodbye(s1, StatusCode::kInternal);
  PassTime(std::chrono::seconds(1));
  EXPECT_EQ(State()["phase"], "ended");
}

TEST_F(SchedulerEndedLivesTest, AnotherLifeOfTheRankEndsTheOneBefore) {
  GatherAll();
  AskForBatches(w1, 2, 7);
  (void)Given(w1);
  (void)world.transport.Lose(w1);
  (void)Take<wire::pb::Roster>(s0, Kind::kRoster);
  const ConnectionId again = HelloWorker(1, 4711);
  const auto rosters = Take<wire::pb::Roster>(s0, Kind::kRoster);
  ASSERT_EQ(rosters.size(), 1U);
  ASSERT_EQ(rosters[0].ended_size(), 1);
  EXPECT_EQ(rosters[0].ended(0).incarnation(), 1U);
  AckHolding(s0, 7, 7);
  AckHolding(s1, 7, 7);
  AskForBatches(again, 1, 9);
  EXPECT_THAT(Given(again), ElementsAre(1));
}

}  // namespace
}  // namespace leeway::testing
