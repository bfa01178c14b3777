#include "base/ring.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>

namespace leeway {
namespace {

TEST(RingTest, IsAQueueLikeAnyOther) {
  Ring<int> ring;
  std::deque<int> wanted;
  // Grows in the middle of a round, and empties several times.
  for (int i = 0; i < 1000; ++i) {
    ring.push_back(i);
    wanted.push_back(i);
    for (int pops = i % 7 == 0 ? static_cast<int>(wanted.size()) : i % 2; pops > 0; --pops) {
      ASSERT_EQ(ring.pop_front(), wanted.front());
      wanted.pop_front();
    }
    ASSERT_EQ(ring.size(), wanted.size());
    ASSERT_EQ(ring.empty(), wanted.empty());
    for (std::size_t at = 0; at < wanted.size(); ++at) ASSERT_EQ(ring[at], wanted[at]);
    if (!wanted.empty()) {
      ASSERT_EQ(ring.front(), wanted.front());
    }
  }
}

TEST(RingTest, LetsGoOfWhatIsTaken) {
  Ring<std::shared_ptr<int>> ring;
  auto held = std::make_shared<int>(1);
  ring.push_back(held);
  (void)ring.pop_front();
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace leeway
