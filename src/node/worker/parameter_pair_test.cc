#include "node/worker/parameter_pair.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <vector>

namespace leeway {
namespace {

TEST(ParameterPairTest, StartsWithZerosThatServeNoIteration) {
  ParameterPair pair(3, nullptr, nullptr);
  EXPECT_EQ(pair.Front().size(), 3U);
  EXPECT_EQ(pair.Front()[2], 0.0F);
  EXPECT_EQ(pair.ready().value(), std::numeric_limits<std::int64_t>::min());
  EXPECT_TRUE(pair.BackIsFree());
}

TEST(ParameterPairTest, UsesTheBuffersOfTheUser) {
  std::vector<float> first(2), second(2);
  ParameterPair pair(2, first.data(), second.data());
  EXPECT_EQ(pair.Front().data(), first.data());
  EXPECT_EQ(pair.Back().data(), second.data());
}

TEST(ParameterPairTest, TakeSwapsOnceAndOnlyAWholeBack) {
  ParameterPair pair(1, nullptr, nullptr);
  const float* const first = pair.Front().data();
  EXPECT_TRUE(pair.Take());
  EXPECT_EQ(pair.Front().data(), first) << "nothing was whole";
  pair.Back()[0] = 5.0F;
  pair.Publish(Iteration(0));
  EXPECT_FALSE(pair.BackIsFree());
  EXPECT_TRUE(pair.Take());
  EXPECT_EQ(pair.Front()[0], 5.0F);
  EXPECT_TRUE(pair.BackIsFree());
  EXPECT_EQ(pair.Back().data(), first);
  EXPECT_TRUE(pair.Take());
  EXPECT_EQ(pair.Front()[0], 5.0F) << "a second take must not swap back";
}

TEST(ParameterPairTest, TheUserCannotTakeWhatTheNodeHolds) {
  ParameterPair pair(1, nullptr, nullptr);
  EXPECT_FALSE(pair.Hold()) << "a free back needs no hold";
  pair.Back()[0] = 1.0F;
  pair.Publish(Iteration(0));
  ASSERT_TRUE(pair.Hold());
  EXPECT_FALSE(pair.Take());
  EXPECT_EQ(pair.Front()[0], 0.0F);
  pair.Back()[0] = 2.0F;
  pair.Publish(Iteration(1));
  EXPECT_TRUE(pair.Take());
  EXPECT_EQ(pair.Front()[0], 2.0F);
  EXPECT_FALSE(pair.Hold()) << "the user has it";
}

TEST(ParameterPairTest, ExtendRaisesReadyAndNeverLowersIt) {
  ParameterPair pair(1, nullptr, nullptr);
  pair.Publish(Iteration(4));
  pair.Extend(Iteration(6));
  EXPECT_EQ(pair.ready(), Iteration(6));
  pair.Extend(Iteration(5));
  EXPECT_EQ(pair.ready(), Iteration(6));
}

// The node publishes versions of which every element is the version's number, partly by holding back what the
// user has not taken; the user checks that it never sees a mix, nor a version change while in use. Run under
// tsan as well.
TEST(ParameterPairTest, TwoThreadsNeverSeeAHalfFilledOrChangingFront) {
  constexpr std::size_t kElements = 512;
  constexpr int kVersions = 4000;
  ParameterPair pair(kElements, nullptr, nullptr);
  std::thread node([&] {
    for (int version = 1; version <= kVersions; ++version) {
      if (!pair.BackIsFree()) (void)pair.Hold();
      std::fill_n(pair.Back().data(), kElements, static_cast<float>(version));
      pair.Publish(Iteration(version));
    }
  });
  float last = 0.0F;
  int torn = 0;
  int back = 0;
  while (last < static_cast<float>(kVersions)) {
    if (!pair.Take()) {
      std::this_thread::yield();
      continue;
    }
    const std::span<const float> front = pair.Front();
    const float seen = front[0];
    if (std::any_of(front.begin(), front.end(), [seen](float value) { return value != seen; })) ++torn;
    if (seen < last) ++back;
    last = std::max(last, seen);
  }
  node.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(back, 0) << "a swap took the table back to an older version";
}

}  // namespace
}  // namespace leeway
