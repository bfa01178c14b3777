#include "node/worker/life_cycle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/errors.h"

namespace leeway {
namespace {

using ::testing::HasSubstr;
using Step = LifeCycle::Step;

TEST(LifeCycleTest, OnlyAMemberMayTrain) {
  LifeCycle life;
  EXPECT_THAT(life.CheckMember(WorkerId(2)).message(), HasSubstr("has not joined the job yet"));
  life.Enter(WorkerPhase::kMember, {});
  EXPECT_TRUE(life.CheckMember(WorkerId(2)).ok());
  life.Enter(WorkerPhase::kObserver, {});
  EXPECT_THAT(life.CheckMember(WorkerId(2)).message(), HasSubstr("worker 2 has left the job"));
  life.Enter(WorkerPhase::kStopped, {});
  EXPECT_THAT(life.CheckMember(WorkerId(2)).message(), HasSubstr("was shut down"));
  EXPECT_TRUE(life.over());
}

TEST(LifeCycleTest, AnObserverReadsUntilItsPeersAreGone) {
  LifeCycle life;
  EXPECT_FALSE(life.CheckReader(WorkerId(2)).ok());
  life.Enter(WorkerPhase::kObserver, {});
  EXPECT_TRUE(life.CheckReader(WorkerId(2)).ok());
  life.Enter(WorkerPhase::kFinished, {});
  EXPECT_TRUE(life.CheckReader(WorkerId(2)).ok());
  life.OnPeerGone(Unavailable("server 0 is gone"));
  EXPECT_THAT(life.CheckReader(WorkerId(2)).message(), HasSubstr("server 0 is gone"));
}

TEST(LifeCycleTest, AFailureIsToldOnceAndIsWhyNothingWorks) {
  LifeCycle life;
  EXPECT_FALSE(life.TakeFailure());
  life.Fail(Fenced("declared dead"));
  EXPECT_TRUE(life.over());
  EXPECT_THAT(life.CheckMember(WorkerId(2)).message(), HasSubstr("declared dead"));
  EXPECT_TRUE(life.TakeFailure());
  EXPECT_FALSE(life.TakeFailure());
}

TEST(LifeCycleTest, EachStepTellsItsOwnWaitersOnce) {
  LifeCycle life;
  DueCallbacks due;
  int joined = 0, left = 0;
  life.Await(Step::kJoin, [&](const Status&) { ++joined; });
  life.Await(Step::kJoin, [&](const Status&) { ++joined; });
  life.Await(Step::kLeave, [&](const Status&) { ++left; });
  life.Tell(Step::kJoin, Status::Ok(), due);
  life.Tell(Step::kJoin, Status::Ok(), due);
  due.Run();
  EXPECT_EQ(joined, 2);
  EXPECT_EQ(left, 0);
  life.TellAll(Fenced("declared dead"), due);
  due.Run();
  EXPECT_EQ(joined, 2);
  EXPECT_EQ(left, 1);
}

TEST(LifeCycleTest, TheSchedulerHearsOnceThatTheWorkerLeaves) {
  LifeCycle life;
  life.Enter(WorkerPhase::kMember, {});
  EXPECT_FALSE(life.TakeLeave());
  life.Enter(WorkerPhase::kLeaving, {});
  EXPECT_FALSE(life.leave_sent());
  EXPECT_TRUE(life.TakeLeave());
  EXPECT_TRUE(life.leave_sent());
  EXPECT_FALSE(life.TakeLeave());
}

}  // namespace
}  // namespace leeway
