#include "node/scheduler/gone_notices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/testing/fake_env.h"

namespace leeway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class GoneNoticesTest : public ::testing::Test {
 protected:
  std::vector<wire::pb::Role> TakeSent() { return std::exchange(sent, {}); }

  testing::FakeEnv world;
  std::vector<wire::pb::Role> sent;
  GoneNotices notices{world.timers, 100, [this](wire::pb::Role role) {
                        notices.OnTold(role);
                        sent.push_back(role);
                      }};
};

TEST_F(GoneNoticesTest, ShardsHearOfTheFirstAtOnceAndOfTheNextOnesTogether) {
  notices.OnGone(false);
  EXPECT_THAT(TakeSent(), ElementsAre(wire::pb::ROLE_SERVER));
  notices.OnGone(false);
  notices.OnGone(false);
  EXPECT_THAT(TakeSent(), IsEmpty());
  EXPECT_TRUE(notices.shards_untold());
  world.Advance(std::chrono::milliseconds(25));
  EXPECT_THAT(TakeSent(), ElementsAre(wire::pb::ROLE_SERVER));
  EXPECT_FALSE(notices.shards_untold());
}

TEST_F(GoneNoticesTest, WorkersHearAfterAPauseUnlessTheyHaveHeardAlready) {
  notices.OnGone(false);
  (void)TakeSent();
  world.Advance(std::chrono::seconds(1));
  EXPECT_THAT(TakeSent(), ElementsAre(wire::pb::ROLE_WORKER));
  notices.OnGone(false);
  (void)TakeSent();
  notices.OnTold(wire::pb::ROLE_WORKER);
  world.Advance(std::chrono::seconds(1));
  EXPECT_THAT(TakeSent(), IsEmpty());
}

TEST_F(GoneNoticesTest, AllHearOfTheLastAtOnce) {
  notices.OnGone(true);
  EXPECT_THAT(TakeSent(), ElementsAre(wire::pb::ROLE_SERVER, wire::pb::ROLE_WORKER));
}

TEST_F(GoneNoticesTest, AfterStopNobodyHears) {
  notices.OnGone(false);
  (void)TakeSent();
  notices.Stop();
  world.Advance(std::chrono::seconds(1));
  EXPECT_THAT(TakeSent(), IsEmpty());
}

}  // namespace
}  // namespace leeway
