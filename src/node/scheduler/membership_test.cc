#include "node/scheduler/membership.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace leeway {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr TimePoint kNoon{seconds(1000)};

wire::pb::Hello RankHello(std::int64_t rank, std::uint64_t life) {
  wire::pb::Hello hello;
  hello.set_role(wire::pb::ROLE_WORKER);
  hello.set_rank(rank);
  hello.set_life(life);
  return hello;
}

wire::pb::Hello ShardHello(std::uint32_t server, std::uint32_t shard, std::uint64_t life) {
  wire::pb::Hello hello;
  hello.set_role(wire::pb::ROLE_SERVER);
  hello.set_server(server);
  hello.set_shard(shard);
  hello.set_life(life);
  hello.set_listen("127.0.0.1:7");
  return hello;
}

class MembershipTest : public ::testing::Test {
 protected:
  static JobOptions Job() {
    JobOptions job;
    job.workers = 2;
    job.servers = 2;
    job.shards = 2;
    return job;
  }
  Result<Membership::Admission<WorkerSeat>> Worker(std::int64_t rank, std::uint64_t life) {
    return members.AdmitWorker(RankHello(rank, life), ConnectionId(++connections), kNoon);
  }
  Result<Membership::Admission<ShardSeat>> Shard(std::uint32_t server, std::uint32_t shard,
                                                 std::uint64_t life) {
    const wire::pb::Hello hello = ShardHello(server, shard, life);
    LW_ASSIGN_OR_RETURN(const auto found, members.FindShard(hello, kNoon, Duration::zero()));
    members.Seat(found.seat, hello, ConnectionId(++connections), kNoon);
    return found;
  }
  void GatherAll() {
    ASSERT_TRUE(Worker(0, 10).ok() && Worker(1, 11).ok());
    for (std::uint32_t i = 0; i < 4; ++i) ASSERT_TRUE(Shard(i / 2, i % 2, 20 + i).ok());
    ASSERT_TRUE(members.Complete());
    members.Gather(Epoch(1));
  }
  Silence Review(TimePoint now) { return members.Review(now, {seconds(3), seconds(10), seconds(60)}); }
  WorkerSeat& seat(std::size_t rank) { return members.workers()[rank]; }

  Membership members{Job()};
  std::uint64_t connections = 0;
};

TEST_F(MembershipTest, GivesTheLowestFreeRankToOneThatNamesNone) {
  ASSERT_TRUE(Worker(0, 10).ok());
  const auto any = Worker(-1, 11);
  ASSERT_TRUE(any.ok());
  EXPECT_EQ(any->seat.rank, WorkerId(1));
  EXPECT_EQ(any->seat.incarnation, Incarnation(1));
}

TEST_F(MembershipTest, ShardIdsAreDenseOverServers) {
  EXPECT_EQ(Shard(0, 0, 1)->seat.id, ShardId(0));
  EXPECT_EQ(Shard(1, 1, 2)->seat.id, ShardId(3));
}

TEST_F(MembershipTest, AJobDoesNotGatherWithOneThatLostItsConnection) {
  for (std::uint32_t i = 0; i < 4; ++i) ASSERT_TRUE(Shard(i / 2, i % 2, 20 + i).ok());
  ASSERT_TRUE(Worker(0, 10).ok());
  seat(0).connection = {};
  members.shards()[2].connection = {};
  ASSERT_TRUE(Worker(1, 11).ok());
  EXPECT_FALSE(members.Complete());
  EXPECT_EQ(members.Missing(), "worker 0, shard 0 of server 1");
  ASSERT_TRUE(Worker(0, 12).ok());
  ASSERT_TRUE(Shard(1, 0, 22).ok());
  EXPECT_TRUE(members.Complete());
}

TEST_F(MembershipTest, ARepeatedHelloFindsItsOwnSeatAndReplacesItsConnection) {
  const auto first = Worker(-1, 10);
  const auto again = Worker(-1, 10);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->seat.rank, WorkerId(0));
  EXPECT_EQ(again->seat.incarnation, Incarnation(1));
  EXPECT_EQ(again->older, ConnectionId(1));
  EXPECT_EQ(first->older, ConnectionId{});
  EXPECT_EQ(Shard(0, 1, 5)->older, ConnectionId{});
  EXPECT_EQ(Shard(0, 1, 5)->older, ConnectionId(3));
}

TEST_F(MembershipTest, ATakenSeatIsRefusedToAnotherLife) {
  ASSERT_TRUE(Worker(1, 10).ok() && Shard(0, 0, 20).ok());
  EXPECT_EQ(Worker(1, 99).status().code(), StatusCode::kAlreadyExists);
  EXPECT_THAT(Worker(1, 99).status().message(), HasSubstr("rank 1 is taken"));
  EXPECT_THAT(Shard(0, 0, 99).status().message(),
              HasSubstr("server 0 shard 0 is taken by another process at 127.0.0.1:7"));
}

TEST_F(MembershipTest, WhileGatheringALostSeatGoesToTheNextLifeAtOnce) {
  ASSERT_TRUE(Worker(0, 10).ok() && Worker(1, 11).ok() && Shard(0, 0, 20).ok());
  for (WorkerSeat& lost : members.workers()) lost.connection = {};
  members.shards()[0].connection = {};
  const auto named = Worker(1, 12);
  ASSERT_TRUE(named.ok()) << named.status().ToString();
  EXPECT_EQ(named->seat.rank, WorkerId(1));
  EXPECT_EQ(named->seat.incarnation, Incarnation(2));
  const auto any = Worker(-1, 13);
  ASSERT_TRUE(any.ok());
  EXPECT_EQ(any->seat.rank, WorkerId(0));
  EXPECT_EQ(Worker(1, 11).status().code(), StatusCode::kAlreadyExists) << "the old life has lost it";
  const auto shard = Shard(0, 0, 21);
  ASSERT_TRUE(shard.ok());
  EXPECT_EQ(shard->seat.life, 21U);
}

TEST_F(MembershipTest, AfterTheGatherALostSeatIsKeptForItsLife) {
  GatherAll();
  seat(0).connection = {};
  members.shards()[0].connection = {};
  EXPECT_EQ(Worker(-1, 99).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Worker(0, 10).ok());
}

TEST_F(MembershipTest, AnotherProcessMayHaveTheSeatOfAShardThatIsGoneUnlessItOwnsBlocks) {
  GatherAll();
  EXPECT_EQ(Shard(0, 0, 99).status().code(), StatusCode::kUnavailable) << "the first is connected";
  members.shards()[0].connection = {};
  EXPECT_EQ(members.FindShard(ShardHello(0, 0, 99), kNoon, seconds(1)).status().code(),
            StatusCode::kUnavailable)
      << "the first may be on its way back";
  wire::pb::Hello former = ShardHello(0, 0, 98);
  former.set_incarnation(1);
  EXPECT_EQ(members.FindShard(former, kNoon, Duration::zero()).status().code(), StatusCode::kFenced);
  const auto fresh = Shard(0, 0, 99);
  ASSERT_TRUE(fresh.ok());
  EXPECT_TRUE(fresh->fresh);
  EXPECT_EQ(members.shards()[0].life, 99U);
  former = ShardHello(0, 0, 20);
  former.set_incarnation(1);
  EXPECT_EQ(members.FindShard(former, kNoon, Duration::zero()).status().code(), StatusCode::kFenced)
      << "the first comes back";
}

TEST_F(MembershipTest, AnAwaitedShardIsWaitedForLongerThanASilentOne) {
  GatherAll();
  members.shards()[0].awaited = true;
  EXPECT_TRUE(std::ranges::count(Review(kNoon + seconds(12)).lost, ShardId(0)) == 0);
  EXPECT_TRUE(Review(kNoon + seconds(12)).unreplaced_shards.empty());
  EXPECT_EQ(Review(kNoon + seconds(61)).unreplaced_shards, std::vector{ShardId(0)});
}

TEST_F(MembershipTest, RanksAndShardsOutOfRangeAreRefused) {
  EXPECT_THAT(Worker(2, 1).status().message(), HasSubstr("rank 2: this job has 2 workers, wanted 0 to 1"));
  EXPECT_THAT(Shard(2, 0, 1).status().message(), HasSubstr("servers 0 to 1 with shards 0 to 1"));
  EXPECT_FALSE(Shard(0, 2, 1).ok());
}

TEST_F(MembershipTest, AServerWithAnotherNumberOfShardsIsRefusedBeforeItHasASeat) {
  for (const std::uint32_t shards : {1U, 3U}) {
    wire::pb::Hello hello = ShardHello(0, 0, 1);
    hello.set_shards(shards);
    const Status refused = members.FindShard(hello, kNoon, Duration::zero()).status();
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(refused.message(), HasSubstr(fmt::format("server 0: got {} shard", shards)));
    EXPECT_THAT(refused.message(), HasSubstr("wanted 2 on each server"));
    EXPECT_THAT(refused.message(), HasSubstr("--shards 2"));
    EXPECT_FALSE(members.shards()[0].taken);
  }
  wire::pb::Hello same = ShardHello(0, 0, 1);
  same.set_shards(2);
  EXPECT_TRUE(members.FindShard(same, kNoon, Duration::zero()).ok());
}

TEST_F(MembershipTest, MissingNamesRanksAndShards) {
  ASSERT_TRUE(Worker(1, 10).ok() && Shard(0, 0, 20).ok() && Shard(0, 1, 21).ok() && Shard(1, 1, 22).ok());
  EXPECT_FALSE(members.Complete());
  EXPECT_EQ(members.Missing(), "worker 0, shard 0 of server 1");
}

TEST_F(MembershipTest, ASeatFreedWhileGatheringGoesToTheNextLifeAsItsNextIncarnation) {
  ASSERT_TRUE(Worker(0, 10).ok());
  members.Free(seat(0));
  const auto next = Worker(0, 12);
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(next->seat.incarnation, Incarnation(2));
}

TEST_F(MembershipTest, OneWorkerMoreThanTheJobHasIsRefused) {
  GatherAll();
  EXPECT_THAT(Worker(-1, 99).status().message(), HasSubstr("the job has its 2 workers already"));
}

TEST_F(MembershipTest, ANewLifeTakesTheSeatOfADeadOneAndEntersWhereTheShardsSay) {
  GatherAll();
  members.Die(seat(1), Epoch(2));
  const auto next = Worker(-1, 12);
  ASSERT_TRUE(next.ok()) << next.status().ToString();
  EXPECT_TRUE(next->fresh);
  EXPECT_EQ(next->seat.rank, WorkerId(1));
  EXPECT_EQ(next->seat.incarnation, Incarnation(2));
  members.Enter(next->seat, Epoch(3), Iteration(5));
  wire::pb::Roster roster = members.BuildRoster();
  EXPECT_EQ(roster.epoch(), 3U);
  EXPECT_TRUE(roster.members(1).joining());
  EXPECT_FALSE(roster.members(1).gone());
  wire::pb::First first;
  first.set_worker(1);
  first.set_incarnation(2);
  for (const std::int64_t at : {8, 6}) {
    first.set_first(at);
    members.TakeFirst(first);
  }
  first.set_incarnation(1);
  first.set_first(99);
  members.TakeFirst(first);
  EXPECT_EQ(seat(1).first, Iteration(8)) << "the highest, and nothing of another life";
  EXPECT_EQ(Worker(1, 11).status().code(), StatusCode::kUnavailable) << "the old life does not come back";
}

TEST_F(MembershipTest, ARankWhoseLifeLostItsConnectionGoesToANewLifeThatNamesIt) {
  GatherAll();
  seat(1).connection = {};
  EXPECT_FALSE(Worker(-1, 12).ok()) << "it may come back";
  const auto next = Worker(1, 12);
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(next->seat.incarnation, Incarnation(2));
}

TEST_F(MembershipTest, NobodyJoinsAJobThatAllHaveLeft) {
  GatherAll();
  members.Leave(seat(0), Epoch(2), true);
  members.Die(seat(1), Epoch(3));
  EXPECT_THAT(Worker(1, 12).status().message(), HasSubstr("nobody can join it any more"));
}

TEST_F(MembershipTest, AJobMayBeginWithoutSomeAndTheyJoinLater) {
  for (std::uint32_t i = 0; i < 4; ++i) ASSERT_TRUE(Shard(i / 2, i % 2, 20 + i).ok());
  EXPECT_FALSE(members.Suffices(1));
  ASSERT_TRUE(Worker(1, 11).ok());
  EXPECT_FALSE(members.Suffices(0)) << "0: all are wanted";
  EXPECT_FALSE(members.Suffices(2));
  ASSERT_TRUE(members.Suffices(1));
  members.Gather(Epoch(1));
  ASSERT_EQ(members.BuildRoster().members_size(), 1);
  EXPECT_EQ(members.BuildRoster().members(0).worker(), 1U);
  const auto late = Worker(-1, 10);
  ASSERT_TRUE(late.ok());
  EXPECT_EQ(late->seat.rank, WorkerId(0));
}

TEST_F(MembershipTest, AllRanksThatBeginTogetherHearAlikeWhetherTheJobGoesOn) {
  GatherAll();
  EXPECT_FALSE(members.BuildRoster().members(0).goes_on());
  seat(1).connection = {};
  members.Lose(seat(1), kNoon);
  ASSERT_TRUE(Worker(1, 12).ok());
  members.Enter(seat(1), Epoch(3), Iteration(0));
  EXPECT_FALSE(members.BuildRoster().members(0).goes_on());
  EXPECT_TRUE(members.BuildRoster().members(1).goes_on()) << "the job had begun when it came";
}

TEST_F(MembershipTest, AJobGoesOnForARankThatBeginsInIteration0) {
  const std::vector<Incarnation> incarnations(2, Incarnation(1));
  const std::vector<Iteration> begins{Iteration(0), Iteration(3)};
  members.Resume(Iteration(0), incarnations, begins);
  GatherAll();
  EXPECT_EQ(members.BuildRoster().members(0).first(), 0);
  EXPECT_TRUE(members.BuildRoster().members(0).goes_on());
  EXPECT_TRUE(members.BuildRoster().members(1).goes_on());
}

TEST_F(MembershipTest, ALostSeatStaysInTheCountsUntilItIsReplacedOrGivenUp) {
  GatherAll();
  seat(1).connection = {};
  members.Lose(seat(1), kNoon);
  EXPECT_FALSE(members.BuildRoster().members(1).gone());
  EXPECT_EQ(members.Counted().size(), 2U);
  EXPECT_EQ(members.LiveCount(), 1U);
  EXPECT_EQ(Worker(1, 11).status().code(), StatusCode::kFenced) << "its own life is over";
  seat(0).last_heard = kNoon + seconds(59);
  EXPECT_TRUE(Review(kNoon + seconds(59)).unreplaced.empty());
  EXPECT_EQ(Review(kNoon + seconds(60)).unreplaced, std::vector{WorkerId(1)});
  ASSERT_TRUE(Worker(1, 12).ok());
  EXPECT_TRUE(Review(kNoon + seconds(60)).unreplaced.empty());
}

TEST_F(MembershipTest, RosterSaysWhoLeftAndWhoDied) {
  GatherAll();
  members.Leave(seat(0), Epoch(2), true);
  members.Die(seat(1), Epoch(3));
  const wire::pb::Roster roster = members.BuildRoster();
  EXPECT_EQ(roster.epoch(), 3U);
  EXPECT_TRUE(roster.gathered());
  ASSERT_EQ(roster.members_size(), 2);
  EXPECT_TRUE(roster.members(0).gone());
  EXPECT_FALSE(roster.members(0).dead());
  EXPECT_TRUE(roster.members(0).finished());
  EXPECT_TRUE(roster.members(1).gone());
  EXPECT_TRUE(roster.members(1).dead());
  EXPECT_FALSE(roster.members(1).finished());
  ASSERT_EQ(roster.shards_size(), 4);
  EXPECT_EQ(roster.shards(3).server(), 1U);
  EXPECT_EQ(roster.shards(3).address(), "127.0.0.1:7");
}

TEST_F(MembershipTest, OneThatLeavesItsWorkToOthersHasNotFinished) {
  GatherAll();
  members.Leave(seat(0), Epoch(2), false);
  EXPECT_TRUE(members.BuildRoster().members(0).gone());
  EXPECT_FALSE(members.BuildRoster().members(0).finished());
}

TEST_F(MembershipTest, ADeadLifeIsFencedOneThatLeftMayComeBackAsObserver) {
  GatherAll();
  members.Leave(seat(0), Epoch(2), true);
  members.Die(seat(1), Epoch(3));
  EXPECT_TRUE(Worker(0, 10).ok());
  EXPECT_EQ(Worker(1, 11).status().code(), StatusCode::kFenced);
  EXPECT_TRUE(members.Counted().empty());
}

TEST_F(MembershipTest, SilenceIsSuspectedThenExpelled) {
  GatherAll();
  seat(0).last_heard = kNoon + seconds(3);
  Silence silence = Review(kNoon + seconds(4));
  EXPECT_EQ(silence.suspected, std::vector{WorkerId(1)});
  EXPECT_EQ(seat(1).state, WorkerState::kSuspect);
  EXPECT_TRUE(silence.expelled.empty() && silence.lost.empty());
  EXPECT_EQ(members.LiveCount(), 2U) << "a suspect still counts";
  EXPECT_TRUE(Review(kNoon + seconds(5)).suspected.empty()) << "reported once";

  seat(1).last_heard = kNoon + seconds(5);
  (void)Review(kNoon + seconds(5));
  EXPECT_EQ(seat(1).state, WorkerState::kJoined) << "heard again";

  silence = Review(kNoon + seconds(13));
  EXPECT_EQ(silence.expelled, std::vector{WorkerId(0)});
  EXPECT_EQ(silence.lost.size(), 4U);
}

TEST_F(MembershipTest, TheJobIsDoneWhenAllLeftAndSaidGoodbyeOrDied) {
  GatherAll();
  members.Leave(seat(0), Epoch(2), true);
  members.Die(seat(1), Epoch(3));
  EXPECT_FALSE(members.AllDone()) << "worker 0 may still pull";
  seat(0).done = true;
  EXPECT_TRUE(members.AllDone());
  EXPECT_TRUE(members.AnyLeft());
}

TEST_F(MembershipTest, OneThatLeftAndIsLostIsNotWaitedForWithoutEnd) {
  GatherAll();
  members.Leave(seat(0), Epoch(2), true);
  members.Leave(seat(1), Epoch(3), true);
  (void)Review(kNoon + seconds(9));
  EXPECT_FALSE(members.AllDone());
  (void)Review(kNoon + seconds(10));
  EXPECT_TRUE(members.AllDone());
}

}  // namespace
}  // namespace leeway
