#include "node/server/roster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/server/testing/hand_fed_blocks.h"

namespace leeway::testing {
namespace {

using ::testing::HasSubstr;

class RosterTest : public ::testing::Test {
 protected:
  [[nodiscard]] Result<MemberKey> Admit(std::int64_t rank, std::uint32_t incarnation,
                                        std::size_t connected = 0) const {
    wire::pb::Hello hello;
    hello.set_role(wire::pb::ROLE_WORKER);
    hello.set_rank(rank);
    hello.set_incarnation(incarnation);
    return roster.Admit(hello, connected);
  }

  Roster roster;
};

TEST_F(RosterTest, OnlyWorkersAreAdmitted) {
  wire::pb::Hello hello;
  hello.set_role(wire::pb::ROLE_SERVER);
  EXPECT_THAT(roster.Admit(hello, 0).status().message(), HasSubstr("takes workers only"));
}

TEST_F(RosterTest, AWorkerNamesItsRankAndIncarnation) {
  EXPECT_EQ(*Admit(3, 2), LifeOf(3, 2)) << "which it may have heard of before this shard";
  EXPECT_THAT(Admit(-1, 1).status().message(), HasSubstr("hello of worker -1"));
  EXPECT_FALSE(Admit(kNoWorker.value(), 1).ok());
  EXPECT_FALSE(Admit(3, 0).ok());
}

TEST_F(RosterTest, ALifeThatIsOverIsFenced) {
  wire::pb::Roster members = RosterOf(1, 2);
  members.mutable_members(0)->set_dead(true);
  members.mutable_members(1)->set_incarnation(3);
  ASSERT_TRUE(roster.Take(members));
  EXPECT_EQ(Admit(0, 1).status().code(), StatusCode::kFenced);
  EXPECT_EQ(Admit(1, 2).status().code(), StatusCode::kFenced) << "incarnation 3 replaced it";
  EXPECT_TRUE(Admit(1, 3).ok());
}

TEST_F(RosterTest, OnlySomeLivesThatTheRosterDoesNotKnowAreAdmitted) {
  ASSERT_TRUE(roster.Take(RosterOf(1, 2)));
  EXPECT_TRUE(Admit(9, 1, 257).ok());
  EXPECT_EQ(Admit(9, 1, 258).status().code(), StatusCode::kUnavailable);
  EXPECT_TRUE(Admit(1, 1, 258).ok()) << "the roster knows it";
}

}  // namespace
}  // namespace leeway::testing
