#include "limit.h"

#include <gtest/gtest.h>

#include "add_loop.h"

namespace leeway::bench {
namespace {

TEST(LimitTest, AddsAndCopiesEveryBlock) {
  Limit limit({.block_bytes = 400, .blocks = 7, .in_flight = 1});
  std::uint64_t done = 0;
  while (done < 100) done += limit.Run(0.001);
  EXPECT_TRUE(limit.Check());
}

TEST(LimitTest, TheLoopAddsEveryElement) {
  for (std::size_t n = 0; n < 70; ++n) {
    std::vector<float> w(n + 1, 1), g(n + 1, 2);
    AddLoop(w.data(), g.data(), n);
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(w[i], 3);
    EXPECT_EQ(w[n], 1) << "one too many, of " << n;
  }
}

}  // namespace
}  // namespace leeway::bench
