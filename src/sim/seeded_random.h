// SeededRandom: a stream of bits that depends on its seed alone (SplitMix64), with the draws the simulator
// needs. Streams of different purpose get different seeds, so that one more draw in one place does not change
// another place.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/hash.h"
#include "leeway/env.h"

namespace leeway::sim {

class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : seed_(Mix64(seed)) {}

  std::uint64_t Next() override { return Mix64(seed_ ^ ++drawn_); }
  // Uniform in [0, n). REQUIRES: n > 0. The bias of the remainder does not matter for n far below 2^64.
  std::uint64_t Below(std::uint64_t n) { return Next() % n; }
  // Uniform in [low, high].
  std::uint64_t Between(std::uint64_t low, std::uint64_t high) { return low + Below(high - low + 1); }
  Duration Between(Duration low, Duration high) {
    return low +
           Duration(static_cast<Duration::rep>(Below(static_cast<std::uint64_t>((high - low).count()) + 1)));
  }
  bool Chance(double share) { return UnitInterval(Next()) <= share; }
  // Exponential with this mean: gaps between independent events.
  Duration Exponential(Duration mean) {
    return Duration(
        static_cast<Duration::rep>(-std::log(UnitInterval(Next())) * static_cast<double>(mean.count())));
  }

 private:
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
};

}  // namespace leeway::sim
