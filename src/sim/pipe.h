// Pipe: one direction of a connection, as one stream of bytes: queued frames, bytes in flight, and arrived
// bytes.
//
// It knows neither time nor readers: SimNetwork moves bytes from stage to stage. A tear can fall between any
// two bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "leeway/env.h"
#include "leeway/transport.h"
#include "sim/send_queue.h"

namespace leeway::sim {

// A piece of the stream in flight, or a signal that travels in line with it.
struct Chunk {
  enum class Kind : std::uint8_t {
    kBytes,
    kConnected,  // the connect was accepted
    kClosed,     // the sender closed
    kReset,      // the connection was torn
  };
  Kind kind = Kind::kBytes;
  Duration arrives{};
  std::vector<std::byte> bytes;
};

class Pipe {
 public:
  // `verdict` marks a frame whose loss leaves a worker without a verdict that a server has given.
  void Queue(const FrameHead& head, std::span<const std::byte> body, std::span<const Pinned> payload,
             bool verdict, const FrameOrder& order = {});
  void QueueRaw(std::span<const std::byte> bytes);
  // Takes at most `n` queued bytes, which leave now.
  [[nodiscard]] std::vector<std::byte> Leave(std::size_t n);
  // Puts a chunk in flight behind all others; it arrives no earlier than they do. A torn pipe drops bytes.
  void Fly(Chunk chunk);
  // The next chunk arrives. REQUIRES: flying().
  [[nodiscard]] Chunk Land();
  // Loses everything in flight after the first `keep` bytes, and all bytes that leave from now on.
  void Tear(std::uint64_t keep);
  // Drops the queue.
  void DropQueued();

  [[nodiscard]] bool flying() const { return !flight_.empty(); }
  [[nodiscard]] Duration next_arrival() const { return flight_.front().arrives; }
  [[nodiscard]] Duration last_arrival() const { return last_arrival_; }
  [[nodiscard]] bool torn() const { return torn_; }
  [[nodiscard]] std::uint64_t bytes_queued() const { return queue_.bytes(); }
  [[nodiscard]] std::uint64_t bytes_in_flight() const { return bytes_in_flight_; }
  // Returns whether a marked frame was queued and has not arrived whole.
  [[nodiscard]] bool VerdictUnderWay() const {
    return verdicts_lost_ || queue_.marked() > 0 || !verdict_ends_.empty();
  }

 private:
  SendQueue queue_;
  std::deque<Chunk> flight_;
  std::deque<std::uint64_t> verdict_ends_;  // where in the stream marked frames that have left end
  bool verdicts_lost_ = false;              // a marked frame was dropped from the queue
  std::uint64_t stream_bytes_ = 0;          // that ever left
  std::uint64_t arrived_bytes_ = 0;
  std::uint64_t bytes_in_flight_ = 0;
  Duration last_arrival_{};
  bool torn_ = false;
};

}  // namespace leeway::sim
