#include "transport/system/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <climits>
#include <ctime>

namespace leeway {
namespace {

// The low half of a word of 64 bits is its first.
static_assert(std::endian::native == std::endian::little);

bool SleepOn(const void* word, std::uint32_t value, std::chrono::nanoseconds timeout) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  const timespec limit{.tv_sec = seconds.count(), .tv_nsec = (timeout - seconds).count()};
  const long slept = syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &limit, nullptr, 0);
  return slept == 0 || errno != ETIMEDOUT;
}

void WakeAll(const void* word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0); }

}  // namespace

bool FutexSleep(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                std::chrono::nanoseconds timeout) {
  return SleepOn(&word, value, timeout);
}

bool FutexSleep(const std::atomic<std::uint64_t>& word, std::uint64_t value,
                std::chrono::nanoseconds timeout) {
  return SleepOn(&word, static_cast<std::uint32_t>(value), timeout);
}

void FutexWake(const std::atomic<std::uint32_t>& word) { WakeAll(&word); }
void FutexWake(const std::atomic<std::uint64_t>& word) { WakeAll(&word); }

}  // namespace leeway
