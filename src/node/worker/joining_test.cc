#include "node/worker/joining.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/testing/fake_env.h"
#include "node/worker/testing/link_stub.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class JoiningTest : public ::testing::Test {
 protected:
  static WorkerOptions Options() {
    WorkerOptions options;
    options.job = "mnist";
    options.rank = 3;
    return options;
  }
  Result<bool> Welcome(std::uint32_t rank, std::uint32_t incarnation) {
    wire::pb::Welcome welcome;
    welcome.set_id(rank);
    welcome.set_incarnation(incarnation);
    welcome.mutable_job()->set_workers(4);
    welcome.mutable_job()->set_no_overlap(true);
    return joining.OnWelcome(welcome);
  }
  // A roster with this worker and two shards.
  wire::pb::Roster Roster(std::uint64_t epoch) {
    wire::pb::Roster roster;
    roster.set_epoch(epoch);
    roster.set_gathered(true);
    wire::pb::Member* self = roster.add_members();
    self->set_worker(3);
    self->set_incarnation(2);
    self->set_first(5);
    for (std::uint32_t i = 0; i < 2; ++i) {
      roster.add_shards()->set_shard(i);
      roster.mutable_shards(static_cast<int>(i))->set_life(10 + i);
    }
    return roster;
  }

  testing::FakeEnv env;
  testing::LinkStub links{env};
  Joining joining{Options(), 77};
};

TEST_F(JoiningTest, TheFirstWelcomeTellsWhoTheWorkerIsAndLaterHellosSaySo) {
  EXPECT_EQ(joining.MakeHello().rank(), 3) << "as wished";
  EXPECT_EQ(joining.MakeHello().incarnation(), 0U);
  EXPECT_EQ(joining.MakeHello().life(), 77U);
  EXPECT_TRUE(*Welcome(3, 2));
  EXPECT_EQ(joining.self().worker, WorkerId(3));
  EXPECT_EQ(joining.MakeHello().incarnation(), 2U);
  EXPECT_EQ(joining.job().workers, 4U);
  EXPECT_FALSE(joining.job().overlap);
  EXPECT_FALSE(*Welcome(3, 2)) << "a new connection";
}

TEST_F(JoiningTest, AWelcomeForAnotherLifeEndsThisOne) {
  ASSERT_TRUE(*Welcome(3, 2));
  EXPECT_THAT(Welcome(3, 4).status().message(), HasSubstr("for rank 3 incarnation 4, wanted rank 3"));
}

TEST_F(JoiningTest, AWorkerBeginsOnceAllHaveGatheredAndItIsAMember) {
  ASSERT_TRUE(*Welcome(3, 2));
  wire::pb::Roster roster = Roster(1);
  roster.set_gathered(false);
  EXPECT_FALSE((*joining.OnRoster(roster))->entered.has_value());
  roster = Roster(2);
  roster.mutable_members(0)->set_joining(true);
  EXPECT_FALSE((*joining.OnRoster(roster))->entered.has_value());
  const auto news = *joining.OnRoster(Roster(3));
  ASSERT_TRUE(news->entered.has_value());
  EXPECT_EQ(news->entered->first(), 5);
  EXPECT_FALSE((*joining.OnRoster(Roster(4)))->entered.has_value()) << "once";
  EXPECT_FALSE(joining.OnRoster(Roster(2))->has_value()) << "older";
}

TEST_F(JoiningTest, AShardOfAnotherLifeWasReplaced) {
  ASSERT_TRUE(*Welcome(3, 2));
  EXPECT_THAT((*joining.OnRoster(Roster(1)))->replaced, ElementsAre());
  wire::pb::Roster roster = Roster(2);
  roster.mutable_shards(1)->set_life(99);
  EXPECT_THAT((*joining.OnRoster(roster))->replaced, ElementsAre(1U));
}

TEST_F(JoiningTest, AWorkerThatWasDeclaredDeadHearsOfIt) {
  ASSERT_TRUE(*Welcome(3, 2));
  wire::pb::Roster roster = Roster(6);
  roster.mutable_members(0)->set_dead(true);
  EXPECT_THAT(joining.OnRoster(roster).status().message(),
              HasSubstr("worker 3 incarnation 2 was declared dead in epoch 6"));
}

TEST_F(JoiningTest, ARosterWithoutAShardIsAnError) {
  EXPECT_THAT(joining.LinkShards(env.env, links.events()).status().message(), HasSubstr("names no shard"));
  ASSERT_TRUE(*Welcome(3, 2));
  wire::pb::Roster roster = Roster(1);
  roster.mutable_shards(1)->set_shard(2);
  (void)*joining.OnRoster(roster);
  EXPECT_THAT(joining.LinkShards(env.env, links.events()).status().message(),
              HasSubstr("has no shard 1 of 2"));
}

TEST_F(JoiningTest, ALinkToAShardIsNamedByItsServerAndFollowsTheNewestRoster) {
  ASSERT_TRUE(*Welcome(3, 2));
  wire::pb::Roster roster = Roster(1);
  roster.mutable_shards(1)->set_server(1);
  (void)*joining.OnRoster(roster);
  const auto made = joining.LinkShards(env.env, links.events());
  ASSERT_TRUE(made.ok());
  ASSERT_EQ(made->size(), 2U);
  EXPECT_EQ((*made)[0]->peer(), "server 0 shard 0");
  EXPECT_EQ((*made)[1]->peer(), "server 1 shard 0");
  roster.set_epoch(2);
  roster.mutable_shards(1)->set_address("10.0.0.9:9");
  (void)*joining.OnRoster(roster);
  (*made)[1]->Start();
  EXPECT_EQ(env.transport.connects.back().second, "10.0.0.9:9");
}

}  // namespace
}  // namespace leeway
