#include "optimizer/kernels.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "base/hash.h"

namespace leeway {
namespace {

constexpr float kKernelNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kKernelInf = std::numeric_limits<float>::infinity();

std::vector<float> KernelNumbers(std::size_t n, std::uint64_t seed) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(UnitInterval(Hash64({seed, i})) * 2.0 - 1.0);
  return x;
}

TEST(KernelsTest, AllFiniteFindsEveryBadValueWhereverItIs) {
  for (const std::size_t n : {0U, 1U, 7U, 64U, 1000U, 4099U}) {
    std::vector<float> x = KernelNumbers(n, 1);
    EXPECT_TRUE(kernels::AllFinite(x)) << n;
    for (std::size_t at = 0; at < n; at += 1 + n / 37) {
      for (const float bad : {kKernelNan, -kKernelNan, kKernelInf, -kKernelInf}) {
        const float good = std::exchange(x[at], bad);
        EXPECT_FALSE(kernels::AllFinite(x)) << n << " at " << at;
        x[at] = good;
      }
    }
  }
  const std::vector<float> edges = {std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest(),
                                    std::numeric_limits<float>::denorm_min(), -0.0F};
  EXPECT_TRUE(kernels::AllFinite(edges));
}

TEST(KernelsTest, AddingAndScalingRoundOncePerOperation) {
  for (const std::size_t n : {0U, 1U, 7U, 64U, 1000U, 4099U}) {
    const std::vector<float> x = KernelNumbers(n, 1), y = KernelNumbers(n, 2);
    std::vector<float> acc = x, scaled(n), in_place = x, sum(n);
    kernels::AddScaled(acc, y, 3.7F);
    EXPECT_TRUE(kernels::ScaleInto(scaled, x, 3.7F));
    kernels::Scale(in_place, 3.7F);
    EXPECT_TRUE(kernels::Add(sum, x, y));
    for (std::size_t i = 0; i < n; ++i) {
      const volatile float product = 3.7F * y[i];  // volatile: rounded before it is added
      ASSERT_EQ(acc[i], x[i] + product) << i;
      ASSERT_EQ(scaled[i], 3.7F * x[i]) << i;
      ASSERT_EQ(in_place[i], scaled[i]) << i;
      ASSERT_EQ(sum[i], x[i] + y[i]) << i;
    }
  }
}

TEST(KernelsTest, ACompensatedGradientIsThatOfThePlainFormula) {
  for (const std::size_t n : {0U, 1U, 7U, 64U, 1000U, 4099U}) {
    const std::vector<float> g = KernelNumbers(n, 1), w = KernelNumbers(n, 2), base = KernelNumbers(n, 3);
    std::vector<float> out(n);
    EXPECT_TRUE(kernels::Compensate(out, 0.4F, g, w, base));
    for (std::size_t i = 0; i < n; ++i) {
      const double wanted =
          static_cast<double>(g[i]) + 0.4 * static_cast<double>(g[i]) * static_cast<double>(g[i]) *
                                          (static_cast<double>(w[i]) - static_cast<double>(base[i]));
      ASSERT_NEAR(static_cast<double>(out[i]), wanted, 1e-6) << i;
    }
    EXPECT_TRUE(kernels::Compensate(out, 0.4F, g, w, w));
    EXPECT_EQ(out, g) << "nothing has moved since the base";
  }
  std::vector<float> out(3);
  EXPECT_FALSE(kernels::Compensate(out, 1.0F, std::vector<float>{1, 1e30F, 1}, std::vector<float>{2, 2, 2},
                                   std::vector<float>{1, 1, 1}));
}

TEST(KernelsTest, OverflowIsToldByTheKernelThatMakesIt) {
  const std::vector<float> big(9, 3e38F);
  std::vector<float> out(9);
  EXPECT_FALSE(kernels::Add(out, big, big));
  EXPECT_FALSE(kernels::ScaleInto(out, big, 2.0F));
  EXPECT_TRUE(kernels::ScaleInto(out, big, 0.5F));
}

}  // namespace
}  // namespace leeway
