// SendAhead: how many bytes of a TCP connection keep their place because they are about to leave: in its
// SendQueue, and unsent in the kernel. Frames behind them may still pass each other.
//
// Few bytes let a frame that is needed first pass more of the others. Too few let the network run dry before
// this process is awake again. So they are what the connection delivers in kTime, by the kernel's own
// measure. Belongs to a connection.
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <utility>

#include "leeway/env.h"

namespace leeway {

class SendAhead {
 public:
  static constexpr std::uint64_t kLeast = 16 * 1024, kMost = 256 * 1024;
  static constexpr std::chrono::milliseconds kTime{1};
  // The connection asks the kernel no more often.
  static constexpr std::chrono::milliseconds kLookEvery{5};

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] bool MayLook(TimePoint now) const { return now - looked_ >= kLookEvery; }
  // The connection delivers so many bytes a second. Returns whether bytes() has changed: it is a power of
  // two.
  [[nodiscard]] bool OnRate(std::uint64_t bytes_per_second, TimePoint now) {
    looked_ = now;
    const std::uint64_t wanted = bytes_per_second * kTime.count() / 1000;
    const std::uint64_t bytes = std::bit_ceil(std::clamp(wanted, kLeast, kMost));
    return std::exchange(bytes_, bytes) != bytes;
  }

 private:
  std::uint64_t bytes_ = kMost;
  TimePoint looked_;  // the clock began long before
};

}  // namespace leeway
