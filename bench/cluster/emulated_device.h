// EmulatedDevice: the accelerator of an emulated worker. It computes one layer after the other, and the
// thread sleeps meanwhile.
//
// Deadlines are absolute: each begins where the one before ended, so a thread that wakes up late computes no
// longer for it. Only a wait for values moves the next deadline. Thread rule: one thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

namespace leeway::bench {

// The machine's monotonic clock, whose deadlines the kernel keeps (clock_nanosleep).
struct MonotonicClock {
  [[nodiscard]] static std::int64_t NowNs();
  static void SleepUntil(std::int64_t deadline_ns);
};

// Clock: NowNs and SleepUntil, as MonotonicClock has them.
template <typename Clock>
class EmulatedDevice {
 public:
  explicit EmulatedDevice(Clock clock = {}) : clock_(clock), free_at_ns_(clock_.NowNs()) {}

  // The device had nothing to do until now: the values of the next layer were not there.
  void Waited() { free_at_ns_ = std::max(free_at_ns_, clock_.NowNs()); }
  // Computes for so long, and returns when that is over.
  void Compute(double seconds) {
    free_at_ns_ += std::llround(seconds * 1e9);
    // A layer that ends within this time is not worth a sleep: its gradient leaves so much early.
    if (free_at_ns_ - clock_.NowNs() > kSleepLeastNs) clock_.SleepUntil(free_at_ns_);
  }
  // Returns when all layers so far are computed.
  void Finish() {
    if (free_at_ns_ > clock_.NowNs()) clock_.SleepUntil(free_at_ns_);
  }

  static constexpr std::int64_t kSleepLeastNs = 100'000;

 private:
  Clock clock_;
  std::int64_t free_at_ns_;
};

}  // namespace leeway::bench
