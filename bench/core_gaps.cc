#include "core_gaps.h"

namespace leeway::bench {
namespace {

// Looks are some 30 ns apart; a tick of an undisturbed kernel takes 1 to 3 microseconds.
constexpr std::chrono::microseconds kGap{5};

}  // namespace

CoreGaps MeasureCoreGaps(std::chrono::nanoseconds time) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  Clock::time_point last = begin;
  Clock::duration lost{};
  int gaps = 0;
  while (last - begin < time) {
    const Clock::time_point now = Clock::now();
    if (now - last >= kGap) {
      ++gaps;
      lost += now - last;
    }
    last = now;
  }
  const double all_s = std::chrono::duration<double>(last - begin).count();
  return {.per_s = gaps / all_s, .share = std::chrono::duration<double>(lost).count() / all_s};
}

}  // namespace leeway::bench
