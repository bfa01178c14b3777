// Mix64 and Hash64: seeded hashes for coins, jitter and trace hashes. Their values are the same on every
// machine and never change.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace leeway {

// SplitMix64's finalizer (Steele, Lea, Flood 2014).
[[nodiscard]] constexpr std::uint64_t Mix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

[[nodiscard]] constexpr std::uint64_t Hash64(std::initializer_list<std::uint64_t> words) {
  std::uint64_t h = 0;
  for (const std::uint64_t w : words) h = Mix64(h ^ w);
  return h;
}

// In (0, 1].
[[nodiscard]] constexpr double UnitInterval(std::uint64_t bits) {
  return (static_cast<double>(bits >> 11) + 1.0) * 0x1.0p-53;
}

}  // namespace leeway
