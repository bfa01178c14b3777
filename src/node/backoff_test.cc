#include "node/backoff.h"

#include <gtest/gtest.h>

#include "base/errors.h"

namespace leeway {
namespace {

using std::chrono::milliseconds;

// Draws the middle of every range, so that no pause is jittered.
class MiddleRandom final : public Random {
 public:
  std::uint64_t Next() override { return std::uint64_t{1} << 63; }
};

class BackoffTest : public ::testing::Test {
 protected:
  static TimePoint At(std::int64_t ms) { return TimePoint(milliseconds(ms)); }
  milliseconds Pause(std::int64_t at_ms) {
    return std::chrono::round<milliseconds>(backoff.NextPause(At(at_ms), random));
  }
  static LinkOptions Options() {
    LinkOptions options;
    options.backoff_min = milliseconds(10);
    options.backoff_max = milliseconds(35);
    options.give_up_after = milliseconds(1000);
    return options;
  }
  MiddleRandom random;
  Backoff backoff{Options()};
};

TEST_F(BackoffTest, PausesDoubleUpToTheirLimit) {
  backoff.Begin(At(0));
  EXPECT_EQ(Pause(0), milliseconds(10));
  EXPECT_EQ(Pause(0), milliseconds(20));
  EXPECT_EQ(Pause(0), milliseconds(35));
  EXPECT_EQ(Pause(0), milliseconds(35));
}

TEST_F(BackoffTest, NoPauseIsLongerThanTheTimeThatIsLeft) {
  backoff.Begin(At(100));
  EXPECT_EQ(backoff.Left(At(100)), milliseconds(1000));
  EXPECT_EQ(Pause(1096), milliseconds(4));
  EXPECT_EQ(backoff.Left(At(1100)), Duration::zero());
  EXPECT_EQ(backoff.Left(At(5000)), Duration::zero());
}

TEST_F(BackoffTest, ALinkThatWasUpBeginsAnew) {
  backoff.Begin(At(0));
  (void)Pause(0);
  (void)Pause(0);
  backoff.Begin(At(900));
  EXPECT_EQ(backoff.Left(At(900)), milliseconds(1000));
  EXPECT_EQ(Pause(900), milliseconds(10));
}

TEST_F(BackoffTest, TheErrorNamesThePeerAndWhatWasWrongLast) {
  backoff.Begin(At(0));
  backoff.NoteError(Unavailable("connection refused"));
  EXPECT_EQ(backoff.GivenUp("scheduler", "a:1", At(1000)).message(),
            "no answer from scheduler at a:1 for 1.0 s: connection refused; is it running?");
  EXPECT_EQ(backoff.GivenUp("scheduler", "", At(1000)).message(),
            "no answer from scheduler for 1.0 s: connection refused; is it running?");
  backoff.NoteToldToWait(true);
  EXPECT_EQ(backoff.GivenUp("scheduler", "a:1", At(1500)).message(), "connection refused; asked for 1.5 s");
}

}  // namespace
}  // namespace leeway
