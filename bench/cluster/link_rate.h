// LinkRate: how much a network card carries in each direction, written "1gbit", "250mbit" or "64kbit".
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "leeway/status.h"

namespace leeway::bench {

struct LinkRate {
  std::uint64_t bits_s = 0;
  [[nodiscard]] double bytes_s() const { return static_cast<double>(bits_s) / 8; }
  [[nodiscard]] double gbit_s() const { return static_cast<double>(bits_s) * 1e-9; }
  friend auto operator<=>(const LinkRate&, const LinkRate&) = default;
};

inline constexpr LinkRate kLinkRateMin{1'000'000}, kLinkRateMax{400'000'000'000};

[[nodiscard]] Result<LinkRate> ParseLinkRate(std::string_view text);
// The largest unit in which the rate has at most three decimals: "1gbit", "1.5gbit", "666.667mbit".
[[nodiscard]] std::string PrintLinkRate(LinkRate rate);

}  // namespace leeway::bench
