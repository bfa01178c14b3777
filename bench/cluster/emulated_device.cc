#include "bench/cluster/emulated_device.h"

#include <cerrno>
#include <ctime>

namespace leeway::bench {

std::int64_t MonotonicClock::NowNs() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

void MonotonicClock::SleepUntil(std::int64_t deadline_ns) {
  const timespec deadline{.tv_sec = deadline_ns / 1'000'000'000, .tv_nsec = deadline_ns % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr) == EINTR) {
  }
}

}  // namespace leeway::bench
