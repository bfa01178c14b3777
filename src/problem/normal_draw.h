// NormalDraw: a nearly standard normal draw, made of hashes.
//
// The number of ones among 64 fair bits is binomial, with mean 32 and variance 16; the sum of two uniform
// draws joins its steps by straight lines and adds 1/6 to the variance. The density is within 0.003 of the
// normal one and the excess kurtosis -0.03. Whole numbers and one product: the same bits on every machine,
// where logarithms and cosines depend on the C library and on the processor.
#pragma once

#include <bit>
#include <cstdint>

namespace leeway::problem {

// REQUIRES: two independent hashes.
[[nodiscard]] inline double NormalDraw(std::uint64_t bits, std::uint64_t between) {
  constexpr double kDeviation = 4.020779360604940;  // of the sum: the root of 16 + 1/6
  const auto two_draws = static_cast<double>((between >> 32) + (between & 0xFFFFFFFFU)) * 0x1.0p-32;
  return (static_cast<double>(std::popcount(bits) - 32) + (two_draws - 1.0)) * (1.0 / kDeviation);
}

}  // namespace leeway::problem
