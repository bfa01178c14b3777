// Shape: what a client of the bench moves, the same for Leeway, the bare socket and the limit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace leeway::bench {

struct Shape {
  std::size_t block_bytes = 0;
  std::size_t blocks = 0;
  std::size_t in_flight = 0;  // pairs under way at once

  // One pair in so many is timed, and the clock is looked at as often: at a million pairs a second two looks
  // for each would be a tenth of the work.
  [[nodiscard]] std::uint64_t looks_every() const {
    return block_bytes < 32 * 1024 && in_flight >= 16 ? 16 : 1;
  }
};

// On which of the machine's cores a client and a server run: worker 0 on the first and server 0 on the
// second, more of them spread evenly over the same two; or all on the first.
enum class CorePlan : std::uint8_t { kOne, kTwo };
[[nodiscard]] constexpr int ClientCore(CorePlan plan, std::uint32_t n) {
  return plan == CorePlan::kOne ? 0 : static_cast<int>(n % 2);
}
[[nodiscard]] constexpr int ServerCore(CorePlan plan, std::uint32_t n) {
  return plan == CorePlan::kOne ? 0 : static_cast<int>((n + 1) % 2);
}

}  // namespace leeway::bench
