// The floors: what Leeway must reach on a quiet machine. All of them are here, and nowhere else.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace leeway::bench {

enum class Bound : std::uint8_t { kAtLeast, kAtMost };

struct Floor {
  // As scoreboard.h names it: "pushpull.local.1MiB.limit_ratio". A "*" in it stands for any name.
  std::string_view figure;
  Bound bound = Bound::kAtLeast;
  double value = 0;
  std::string_view why;
  [[nodiscard]] bool Holds(double got) const {
    return bound == Bound::kAtLeast ? got >= value : got <= value;
  }
};

[[nodiscard]] std::span<const Floor> Floors();
// Null if this figure has no floor.
[[nodiscard]] const Floor* FindFloor(std::string_view figure);

}  // namespace leeway::bench
