#include "transport/stream/queue_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace leeway {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

TEST(QueueLimitsTest, AQueueIsOverItsLimitByFramesOrBytes) {
  const std::vector<std::byte> body(100);
  SendQueue queue(4096);
  queue.Push(1, body, {});
  queue.Push(1, body, {});
  EXPECT_FALSE(IsOverLimit(queue, {}));
  EXPECT_TRUE(IsOverLimit(queue, {.queue_frames_max = 1}));
  EXPECT_TRUE(IsOverLimit(queue, {.queue_copied_bytes_max = 200}));
  const std::vector<std::byte> large(5000);
  queue.Push(1, {}, std::vector<Pinned>{{large, nullptr}});
  EXPECT_TRUE(IsOverLimit(queue, {.queue_pinned_bytes_max = 4999}));
  EXPECT_FALSE(IsOverLimit(queue, {.queue_pinned_bytes_max = 5000}));
}

TEST(QueueLimitsTest, APeerIsAtFaultOnceItHasTakenNothingForLong) {
  const StreamOptions options{.queue_pinned_bytes_max = 7, .stall_max = milliseconds(50)};
  const SendQueue queue(4096);
  EXPECT_TRUE(CheckStall("a:1", queue, milliseconds(49), options).ok());
  EXPECT_THAT(CheckStall("a:1", queue, milliseconds(50), options).message(),
              HasSubstr("a:1 does not read what is sent to it"));
  EXPECT_TRUE(CheckSharedStall("a:1", 8, 1, milliseconds(49), options).ok());
  EXPECT_THAT(CheckSharedStall("a:1", 8, 1, milliseconds(60), options).message(),
              HasSubstr("8 bytes of 1 frames wait and none was taken for 60 ms; at most 7 bytes may wait"));
}

}  // namespace
}  // namespace leeway
