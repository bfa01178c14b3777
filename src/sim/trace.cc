#include "sim/trace.h"

#include <cstring>

#include "base/hash.h"

namespace leeway::sim {

std::uint64_t HashBytes(std::uint64_t seed, std::span<const std::byte> bytes) {
  std::uint64_t hash = Mix64(seed ^ bytes.size());
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t n = bytes.size() < sizeof word ? bytes.size() : sizeof word;
    std::memcpy(&word, bytes.data(), n);
    hash = Mix64(hash ^ word);
    bytes = bytes.subspan(n);
  }
  return hash;
}

void TraceHash::Frame(Duration when, ConnectionId connection, const FrameHead& head,
                      std::span<const std::byte> body, const Landing& landing) {
  ++frames_;
  Note(when, connection, head.kind);
  hash_ = HashBytes(hash_, body);
  for (const std::span<std::byte> place : landing.places) hash_ = HashBytes(hash_, place);
  for (const std::span<const std::byte> view : landing.views) hash_ = HashBytes(hash_, view);
}

void TraceHash::Note(Duration when, ConnectionId connection, std::uint64_t what) {
  hash_ = Hash64({hash_, static_cast<std::uint64_t>(when.count()), connection.value(), what});
}

}  // namespace leeway::sim
