// Streams: assigns the streams of random bits in a simulated cluster; each is mixed with the cluster's seed.
// Every user has its own stream, so that one more draw in one place changes nothing in another.
#pragma once

#include <cstdint>

namespace leeway::sim {

enum class Stream : std::uint64_t {
  kNetwork = 1,
  kFaults,
  kStart,
  kScheduler,
  kSecret,
  // One stream for each of their kind.
  kShards = 1000,
  kWorkers = 2000,
  kDisks = 3000
};

// The stream of the only one of its kind.
[[nodiscard]] constexpr std::uint64_t StreamOf(Stream kind) { return static_cast<std::uint64_t>(kind); }

// The stream of one of many. From the thousandth on a plain sum would be a stream of the next kind.
[[nodiscard]] constexpr std::uint64_t StreamOf(Stream kind, std::uint64_t index) {
  constexpr std::uint64_t kPlain = 1000;
  return index < kPlain ? StreamOf(kind) + index : (StreamOf(kind) << 32) + index;
}

}  // namespace leeway::sim
