// TraceHash: one number for everything that arrived anywhere in a run. Same seed + same commit = same hash,
// so a replay that gives the same hash went the same way.
#pragma once

#include <cstdint>
#include <span>

#include "leeway/env.h"
#include "leeway/transport.h"

namespace leeway::sim {

class TraceHash {
 public:
  // A whole frame is about to be handed to a node.
  void Frame(Duration when, ConnectionId connection, const FrameHead& head, std::span<const std::byte> body,
             const Landing& landing);
  // Anything else that belongs to the trace (a connection that closed).
  void Note(Duration when, ConnectionId connection, std::uint64_t what);

  [[nodiscard]] std::uint64_t value() const { return hash_; }
  [[nodiscard]] std::uint64_t frames() const { return frames_; }

 private:
  std::uint64_t hash_ = 0;
  std::uint64_t frames_ = 0;
};

// Of some bytes, in the order given.
[[nodiscard]] std::uint64_t HashBytes(std::uint64_t seed, std::span<const std::byte> bytes);

}  // namespace leeway::sim
