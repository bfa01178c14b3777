#include "node/server/shard_acks.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "node/server/testing/hand_fed_blocks.h"

namespace leeway::testing {
namespace {

TEST(ShardAcksTest, OfEpochsThatArePutOffTheHighestIsTakenOnce) {
  ShardAcks acks;
  EXPECT_EQ(acks.TakePutOff(), 0U);
  for (const std::uint64_t epoch : {4U, 7U, 5U}) acks.PutOff(epoch);
  EXPECT_EQ(acks.TakePutOff(), 7U);
  EXPECT_EQ(acks.TakePutOff(), 0U);
}

TEST(ShardAcksTest, ATableIsRefusedByTheNextAcknowledgementAlone) {
  FakeEnv world;
  const HandFedBlocks blocks(world);
  ShardAcks acks;
  acks.Refuse({TableId(3), ResourceExhausted("no memory")});
  const wire::pb::EpochAck first = acks.Make(2, Roster(), blocks.store);
  EXPECT_EQ(first.epoch(), 2U);
  ASSERT_EQ(first.refused_size(), 1);
  EXPECT_EQ(first.refused(0).table(), 3U);
  EXPECT_EQ(first.refused(0).error(), "no memory");
  EXPECT_EQ(acks.Make(3, Roster(), blocks.store).refused_size(), 0);
}

TEST(ShardAcksTest, SaysWhereJoinersBeginAndWhatIsHeldOfLivesThatEnded) {
  FakeEnv world;
  HandFedBlocks blocks(world);
  blocks.Make("bsp", 2);
  Roster roster;
  wire::pb::Roster members = RosterOf(4, 2);
  members.mutable_members(1)->set_joining(true);
  members.mutable_members(1)->set_first(6);
  wire::pb::Life& ended = *members.add_ended();
  ended.set_worker(0);
  ended.set_incarnation(1);
  ASSERT_TRUE(roster.Take(members));
  for (const auto& block : blocks.store.all()) block->OnMembers(Epoch(4), roster.members(), world.clock.now);
  const wire::pb::EpochAck ack = ShardAcks().Make(4, roster, blocks.store);
  ASSERT_EQ(ack.firsts_size(), 1) << "one for all tables of the job's clock";
  EXPECT_EQ(ack.firsts(0).worker(), 1U);
  EXPECT_EQ(ack.firsts(0).first(), 6);
  ASSERT_EQ(ack.held_size(), 1);
  EXPECT_EQ(ack.held(0).worker(), 0U);
  EXPECT_EQ(ack.held(0).whole().silent(), 2U) << "it has sent nothing to either block";
}

}  // namespace
}  // namespace leeway::testing
