#include "process/client_life.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/errors.h"

namespace leeway {
namespace {

using ::testing::HasSubstr;

TEST(ClientLifeTest, AWorkerThatHasLeftMayStillPull) {
  ClientLife life;
  EXPECT_TRUE(life.CheckMember().ok());
  life.SetLeft(WorkerId(3));
  EXPECT_TRUE(life.left());
  EXPECT_TRUE(life.CheckAlive().ok());
  EXPECT_EQ(life.CheckMember().code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(life.CheckMember().message(), HasSubstr("worker 3 has left the job"));
}

TEST(ClientLifeTest, AShutDownWorkerHasNoNodeAndSaysSo) {
  ClientLife life;
  EXPECT_TRUE(life.HasNode());
  life.SetStopped();
  EXPECT_FALSE(life.HasNode());
  EXPECT_TRUE(life.CheckFork().ok());
  EXPECT_THAT(life.CheckAlive().message(), HasSubstr("shut down"));
}

TEST(ClientLifeTest, AFailureIsTheAnswerToEveryCallAlsoAfterTheEnd) {
  ClientLife life;
  life.OnFailing(Fenced("another worker has this rank"));
  EXPECT_TRUE(life.failed());
  EXPECT_TRUE(life.HasNode()) << "its counters can still be read";
  life.SetLeft(WorkerId(0));
  life.SetStopped();
  EXPECT_EQ(life.CheckMember().code(), StatusCode::kFenced);
  EXPECT_EQ(life.CheckAlive().message(), "another worker has this rank");
}

TEST(ClientLifeTest, AThreadWaitsUntilEveryCallbackHasHeardOfTheFailure) {
  ClientLife life;
  bool heard = false;
  std::thread node([&] {
    life.OnFailing(Cancelled("its program ended"));
    heard = true;
    life.OnFailed();
  });
  life.WaitUntilFailed(std::chrono::seconds(60));
  EXPECT_TRUE(heard);
  node.join();
}

TEST(ClientLifeTest, AWaitForAFailureThatDoesNotComeEnds) {
  ClientLife life;
  life.OnFailing(Cancelled("its program ended"));
  life.WaitUntilFailed(std::chrono::milliseconds(1));
  EXPECT_TRUE(life.failed());
}

}  // namespace
}  // namespace leeway
