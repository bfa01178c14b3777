// TraceHash: one number over everything that arrived anywhere in a run. The same seed and commit give the
// same hash, so a replay with the same hash took the same course.
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
  // Adds any other event of the trace (a connection that closed).
  void Note(Duration when, ConnectionId connection, std::uint64_t what);

  [[nodiscard]] std::uint64_t value() const { return hash_; }
  [[nodiscard]] std::uint64_t frames() const { return frames_; }

 private:
  std::uint64_t hash_ = 0;
  std::uint64_t frames_ = 0;
};

// Hashes some bytes, in the order given.
[[nodiscard]] std::uint64_t HashBytes(std::uint64_t seed, std::span<const std::byte> bytes);

}  // namespace leeway::sim
