#include "line_latency.h"

#include <gtest/gtest.h>

namespace leeway::bench {
namespace {

TEST(LineLatencyTest, AWalkComesBackAfterAllLinesAndNotBefore) {
  for (const std::size_t n : {1U, 2U, 3U, 64U, 1000U}) {
    const std::vector<std::uint32_t> next = RandomCycle(n);
    std::size_t steps = 0;
    std::uint32_t at = 0;
    do {
      at = next[at];
      ++steps;
    } while (at != 0 && steps <= n);
    EXPECT_EQ(steps, n);
  }
}

}  // namespace
}  // namespace leeway::bench
