#include "node/scheduler/job_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.h"
#include "node/scheduler/testing/hand_fed_job.h"

namespace leeway {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using testing::HandFedActions;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class JobRulesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    job.Define("t");
    actions.AckAll();
  }
  void Set(std::uint64_t request, const std::string& rule, const Status& training = Status::Ok()) {
    wire::pb::SetSync set;
    set.set_request(request);
    set.set_rule(rule);
    rules.Set(kMonitor, 300, set, training, job.tables);
  }
  std::vector<wire::pb::SetSyncReply> Replies() {
    return actions.Take<wire::pb::SetSyncReply>(kMonitor, wire::Kind::kSetSyncReply);
  }
  std::vector<wire::pb::TableMap> Maps(ConnectionId to) {
    return actions.Take<wire::pb::TableMap>(to, wire::Kind::kTableMap);
  }

  static constexpr ConnectionId kMonitor{300};
  testing::FakeEnv world;
  testing::HandFedJob job;
  HandFedActions actions{2};
  JobRules rules{world.env, actions, seconds(10)};
};

TEST_F(JobRulesTest, TheOneThatSetARuleHearsWhenEveryShardHasIt) {
  Set(1, "sync=asp");
  EXPECT_THAT(Maps(HandFedActions::Shard(1)), SizeIs(1));
  ASSERT_THAT(Maps(HandFedActions::Worker(0)), SizeIs(1));
  EXPECT_EQ(job.tables.all()[0].map.sync(), "asp");
  EXPECT_THAT(Replies(), IsEmpty());
  actions.AckAll();
  const auto replies = Replies();
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].error(), "");
  EXPECT_EQ(replies[0].tables(), 1U);
}

TEST_F(JobRulesTest, ARequestThatComesAgainIsAnsweredAndUndoesNothing) {
  Set(1, "sync=asp");
  Set(2, "sync=ssp:3");
  actions.AckAll();
  (void)Replies();
  actions.sent.clear();
  Set(1, "sync=asp");
  EXPECT_THAT(Replies(), SizeIs(1));
  EXPECT_THAT(actions.sent, IsEmpty());
  EXPECT_EQ(job.tables.all()[0].map.sync(), "ssp:3");
}

TEST_F(JobRulesTest, ShardsThatDoNotAnswerAreNamedAfterAWhile) {
  Set(1, "sync=asp");
  const auto unacked = [](Epoch) { return std::vector<std::string>{"server 1"}; };
  rules.Review(unacked);
  EXPECT_THAT(Replies(), IsEmpty());
  world.Advance(seconds(10));
  rules.Review(unacked);
  const auto replies = Replies();
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_THAT(replies[0].error(), HasSubstr("after 10.0 s these have not said that they have it: server 1"));
  actions.AckAll();
  EXPECT_THAT(Replies(), IsEmpty()) << "once";
}

TEST_F(JobRulesTest, ARuleThatTheJobCannotHaveNowChangesNothing) {
  Set(1, "sync=asp", FailedPrecondition("the job is over"));
  EXPECT_THAT(Replies().at(0).error(), HasSubstr("is over"));
  Set(2, "sync=nonsense");
  EXPECT_THAT(Replies().at(0).error(), HasSubstr("nonsense"));
  EXPECT_FALSE(job.tables.switched());
}

TEST_F(JobRulesTest, RulesOfACheckpointAreTakenUpUnlessTheJobHasOthers) {
  const std::vector<std::string> in_force = {"sync=asp"};
  rules.TakeUp({}, in_force, job.tables);
  EXPECT_THAT(job.tables.Rules(), ElementsAre("sync=asp"));
  EXPECT_THAT(world.log.lines.back(), HasSubstr("are taken up: --rule 'sync=asp'"));
  const std::vector<std::string> own = {"sync=ssp:3"};
  rules.TakeUp(own, in_force, job.tables);
  EXPECT_THAT(world.log.lines.back(), HasSubstr("what it lacks of them: --rule 'sync=asp'"));
}

TEST_F(JobRulesTest, AWorkerThatComesBackHearsOfRulesThatItMayHaveMissed) {
  rules.Tell(HandFedActions::Worker(1), job.tables);
  EXPECT_THAT(Maps(HandFedActions::Worker(1)), IsEmpty());
  Set(1, "sync=asp");
  rules.Tell(HandFedActions::Worker(1), job.tables);
  EXPECT_THAT(Maps(HandFedActions::Worker(1)), SizeIs(1));
}

}  // namespace
}  // namespace leeway
