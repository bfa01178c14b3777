#include "node/scheduler/departures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/scheduler/testing/hand_fed_job.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using testing::HandFedActions;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class DeparturesTest : public ::testing::Test {
 protected:
  static wire::pb::LeaseBatches Ask(std::uint64_t request, std::uint32_t wanted) {
    wire::pb::LeaseBatches ask;
    ask.set_request(request);
    ask.set_pool("p");
    ask.set_batches(4);
    ask.set_wanted(wanted);
    ask.set_per_iteration(1);
    return ask;
  }
  // A shard says that its one block holds the first life of rank 0 up to `highest`.
  void Answer(std::uint32_t shard, std::int64_t highest) {
    wire::pb::Held held;
    held.set_worker(0);
    held.set_incarnation(job.members.workers()[0].incarnation.value());
    held.set_highest(highest);
    held.mutable_whole()->set_blocks(1);
    held.mutable_whole()->set_sum(highest);
    const wire::pb::Held* const answer[] = {&held};
    departures.ended().Take(ShardId(shard), answer);
  }
  WorkerSeat& seat(std::size_t rank) { return job.members.workers()[rank]; }

  testing::FakeEnv world;
  testing::HandFedJob job;
  HandFedActions actions{2};
  bool may_patch = false;
  int settled = 0;
  Departures departures{world.log, actions, [this] { return may_patch; },
                        [this] {
                          ++settled;
                          departures.LendWaiting(job.members);
                        }};
};

TEST_F(DeparturesTest, BatchesOfADeadWorkerAreLentAgainOnceAllShardsHaveSaidWhatTheyHold) {
  const auto first = departures.Lend(seat(0), 1, Ask(1, 4));
  ASSERT_TRUE(first);
  ASSERT_THAT(first->batches(), SizeIs(2)) << "half of an even share";
  (void)departures.Lend(seat(1), 1, Ask(1, 4));
  (void)departures.Lend(seat(1), 1, Ask(2, 4));
  (void)actions.NextEpoch();
  job.members.Die(seat(0), actions.epoch());
  departures.OnDied(seat(0));
  EXPECT_FALSE(departures.Lend(seat(1), 1, Ask(3, 4))) << "what comes back is not known yet";
  EXPECT_THAT(actions.sent, IsEmpty());
  Answer(0, -1);
  Answer(1, -1);
  actions.AckAll();
  EXPECT_EQ(settled, 1);
  const auto leases = actions.Take<wire::pb::BatchLease>(HandFedActions::Worker(1), wire::Kind::kBatchLease);
  ASSERT_THAT(leases, SizeIs(1));
  EXPECT_THAT(leases[0].batches(), ElementsAre(0));
}

TEST_F(DeparturesTest, PushesThatReachedOnlySomeBlocksAreCountedAndLogged) {
  (void)actions.NextEpoch();
  departures.OnDied(seat(0));
  Answer(0, 5);
  Answer(1, 3);
  actions.AckAll();
  EXPECT_EQ(departures.lacking().torn, 2U);
  ASSERT_THAT(world.log.lines, SizeIs(1));
  EXPECT_THAT(world.log.lines[0], ::testing::HasSubstr("2 more reached only some of the blocks"));
  wire::pb::LoggedJob logged;
  departures.AddTo(logged);
  EXPECT_EQ(logged.torn(), 2U);
  EXPECT_THAT(logged.ended(), IsEmpty()) << "no server can be replaced: the life is forgotten";
}

TEST_F(DeparturesTest, WhereAServerMayBeReplacedALifeThatLeftStaysKnown) {
  may_patch = true;
  departures.OnLeft(seat(0), Iteration(4));
  EXPECT_THAT(departures.ended().Pending(), IsEmpty());
  (void)actions.NextEpoch();
  departures.OnReplaced(ShardId(1));
  EXPECT_THAT(departures.ended().Pending(), SizeIs(1));
  actions.AckAll();
  EXPECT_EQ(settled, 1);
}

TEST_F(DeparturesTest, AfterStopNothingIsSettled) {
  (void)actions.NextEpoch();
  departures.OnDied(seat(0));
  departures.Stop();
  actions.AckAll();
  EXPECT_EQ(settled, 0);
}

}  // namespace
}  // namespace leeway
