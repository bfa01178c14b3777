#include "role/until_ended.h"

#include <gtest/gtest.h>

#include <csignal>
#include <future>

#include "base/errors.h"

namespace leeway::app {
namespace {

using std::chrono::milliseconds;

class UntilEndedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    calls.wait = [this](milliseconds) { return ended.get_future().get(); };
    calls.stop = [this](const Status& why) {
      ++stops;
      ended.set_value(why);
    };
  }
  Status TermAndRun() {
    Result<SignalInbox> signals = OpenStopSignals();
    EXPECT_TRUE(signals.ok()) << signals.status().ToString();
    (void)std::raise(SIGTERM);
    return UntilEnded(*signals, calls);
  }

  std::promise<Status> ended;
  RoleCalls calls;
  int stops = 0;
};

TEST_F(UntilEndedTest, ADrainIsBegunAgainUntilItIsDone) {
  int drains = 0;
  calls.grace = milliseconds(60'000);
  calls.drain = [&](const Status& why) {
    if (++drains == 3) ended.set_value(why);
  };
  EXPECT_EQ(TermAndRun().code(), StatusCode::kCancelled);
  EXPECT_EQ(drains, 3);
  EXPECT_EQ(stops, 0);
}

TEST_F(UntilEndedTest, AfterTheGraceTimeItIsStopped) {
  int drains = 0;
  calls.grace = milliseconds(50);
  calls.drain = [&](const Status&) { ++drains; };
  EXPECT_EQ(TermAndRun().code(), StatusCode::kCancelled);
  EXPECT_EQ(drains, 1);
  EXPECT_EQ(stops, 1);
}

TEST_F(UntilEndedTest, HowTheRoleFaresIsShownAgainAndAgain) {
  int shown = 0;
  calls.show_every = milliseconds(1);
  calls.show = [&] {
    if (++shown == 3) ended.set_value(Status::Ok());
  };
  Result<SignalInbox> signals = OpenStopSignals();
  ASSERT_TRUE(signals.ok()) << signals.status().ToString();
  EXPECT_TRUE(UntilEnded(*signals, calls).ok());
  EXPECT_EQ(shown, 3);
  EXPECT_EQ(stops, 0);
}

}  // namespace
}  // namespace leeway::app
