#include "transport/stream/send_ahead.h"

#include <gtest/gtest.h>

namespace leeway {
namespace {

TimePoint At(std::int64_t ms) { return TimePoint(std::chrono::milliseconds(ms)); }

TEST(SendAheadTest, TheBytesAreWhatTheConnectionDeliversInAMillisecond) {
  SendAhead ahead;
  EXPECT_EQ(ahead.bytes(), SendAhead::kMost) << "before anything is known";
  EXPECT_TRUE(ahead.OnRate(50'000'000, At(0)));
  EXPECT_EQ(ahead.bytes(), 65'536U);
  EXPECT_FALSE(ahead.OnRate(60'000'000, At(10)));
  EXPECT_TRUE(ahead.OnRate(0, At(20)));
  EXPECT_EQ(ahead.bytes(), SendAhead::kLeast);
  EXPECT_TRUE(ahead.OnRate(20'000'000'000, At(30)));
  EXPECT_EQ(ahead.bytes(), SendAhead::kMost);
}

TEST(SendAheadTest, TheKernelIsNotAskedAtEveryWrite) {
  SendAhead ahead;
  EXPECT_TRUE(ahead.MayLook(At(5)));
  (void)ahead.OnRate(1, At(100));
  EXPECT_FALSE(ahead.MayLook(At(104)));
  EXPECT_TRUE(ahead.MayLook(At(105)));
}

}  // namespace
}  // namespace leeway
