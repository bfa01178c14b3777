#include "node/worker/roster_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr WorkerId kSelf(2);
constexpr Incarnation kLife(3);

void AddMember(wire::pb::Roster& roster, std::uint32_t worker, std::uint32_t incarnation, bool gone = false) {
  wire::pb::Member& member = *roster.add_members();
  member.set_worker(worker);
  member.set_incarnation(incarnation);
  member.set_gone(gone);
}

wire::pb::Roster RosterAt(std::uint64_t epoch) {
  wire::pb::Roster roster;
  roster.set_epoch(epoch);
  roster.set_gathered(true);
  return roster;
}

TEST(RosterViewTest, KeepsWhoIsPresentInTheOrderOfRanks) {
  RosterView view;
  wire::pb::Roster roster = RosterAt(5);
  AddMember(roster, 2, 3);
  AddMember(roster, 1, 1, true);
  AddMember(roster, 0, 1);
  ASSERT_TRUE(view.Take(roster, kSelf, kLife));
  EXPECT_EQ(view.epoch(), Epoch(5));
  EXPECT_THAT(view.present(), ElementsAre(0, 2));
  EXPECT_FALSE(view.AllGone());
  ASSERT_NE(view.self(), nullptr);
  EXPECT_EQ(view.self()->incarnation(), 3U);
}

TEST(RosterViewTest, AnOlderOneChangesNothing) {
  RosterView view;
  wire::pb::Roster roster = RosterAt(5);
  AddMember(roster, 2, 3);
  ASSERT_TRUE(view.Take(roster, kSelf, kLife));
  EXPECT_FALSE(view.Take(RosterAt(4), kSelf, kLife));
  EXPECT_THAT(view.present(), ElementsAre(2));
  EXPECT_TRUE(view.Take(RosterAt(5), kSelf, kLife)) << "the same again may say more";
  EXPECT_THAT(view.present(), IsEmpty());
  EXPECT_EQ(view.self(), nullptr);
}

TEST(RosterViewTest, AllAreGoneOnceTheJobHasGatheredAndNobodyIsPresent) {
  RosterView view;
  wire::pb::Roster roster = RosterAt(1);
  roster.set_gathered(false);
  ASSERT_TRUE(view.Take(roster, kSelf, kLife));
  EXPECT_FALSE(view.AllGone()) << "it has not begun";
  roster = RosterAt(2);
  AddMember(roster, 2, 3, true);
  ASSERT_TRUE(view.Take(roster, kSelf, kLife));
  EXPECT_TRUE(view.AllGone());
}

TEST(RosterViewTest, ALaterIncarnationReplacesThisOne) {
  RosterView view;
  wire::pb::Roster roster = RosterAt(1);
  AddMember(roster, 2, 4);
  AddMember(roster, 1, 9);
  ASSERT_TRUE(view.Take(roster, kSelf, kLife));
  EXPECT_TRUE(view.is_replaced());
  EXPECT_EQ(view.self(), nullptr);
}

TEST(RosterViewTest, ShardsAreInTheOrderOfTheirIds) {
  RosterView view;
  wire::pb::Roster roster = RosterAt(1);
  for (const std::uint32_t shard : {2U, 0U, 1U}) roster.add_shards()->set_shard(shard);
  ASSERT_TRUE(view.Take(roster, kSelf, kLife));
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(view.shards()[i].shard(), i);
}

}  // namespace
}  // namespace leeway
