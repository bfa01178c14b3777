// SendQueue: frames waiting for one connection, as the fewest contiguous pieces.
//
// Headers, bodies and small payload pieces are copied next to each other into shared runs of bytes, so that
// many small frames leave as one piece; large payload pieces are pinned where they lie. Knows no socket.
// Belongs to a connection.
//
// The queue commits frames to their places up to so many bytes ahead. Frames beyond that wait, and leave in
// the order of wire::SendOrder.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "leeway/transport.h"
#include "transport/stream/send_ahead.h"
#include "wire/send_order.h"

namespace leeway {

class SendQueue {
 public:
  // Pieces of fewer bytes than `copy_bytes_max` are copied.
  explicit SendQueue(std::size_t copy_bytes_max) : copy_bytes_max_(copy_bytes_max) {}

  // The queue commits no further frame once so many bytes are committed.
  void SetAhead(std::uint64_t bytes) { ahead_bytes_ = bytes; }

  void Push(std::uint8_t kind, std::span<const std::byte> body, std::span<const Pinned> payload,
            const FrameOrder& order = {});
  // A frame whose payload of so many bytes is not in the stream; its body has the trailer already.
  void PushShared(std::uint8_t kind, std::span<const std::byte> body, std::uint64_t payload_bytes);
  // A note of the carrier; with its first byte goes the descriptor `fd`, unless that is -1. `fd` stays open
  // until then.
  void PushNote(std::uint8_t kind, std::span<const std::byte> body, int fd);
  // Fills `out` with the first pieces, of at most `bytes_max` together; returns how many. They stay valid
  // until the next call of any other method.
  [[nodiscard]] std::size_t Gather(std::span<iovec> out, std::size_t bytes_max) const;
  // The descriptor that must go with what Gather gives now; -1: none.
  [[nodiscard]] int Descriptor() const;
  // The first `n` bytes have left: drops pins that are needed no more. REQUIRES: n <= bytes().
  void Consume(std::size_t n);
  // Drops everything.
  void Clear();

  [[nodiscard]] bool empty() const { return bytes_ == 0; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_ + waiting_copied_bytes_ + waiting_pinned_bytes_; }
  [[nodiscard]] std::uint64_t pinned_bytes() const { return pinned_bytes_ + waiting_pinned_bytes_; }
  [[nodiscard]] std::uint64_t copied_bytes() const { return bytes() - pinned_bytes(); }
  // Frames of which something is left.
  [[nodiscard]] std::size_t frames() const { return frames_ + waiting_frames_; }

 private:
  // One contiguous run: copied bytes, or bytes that a pin holds.
  struct Run {
    std::vector<std::byte> copied;
    std::span<const std::byte> pinned;
    std::shared_ptr<const void> pin;  // as Pinned::pin
    std::size_t frames_ended = 0;     // frames whose last byte is in here
    int fd = -1;                      // goes with the first byte; what has one is a run by itself
    [[nodiscard]] std::span<const std::byte> bytes() const {
      return pinned.empty() ? std::span(copied) : pinned;
    }
  };

  // A frame that waits for its place.
  struct Waiting {
    std::uint8_t kind = 0;
    std::vector<std::byte> body;
    std::vector<Pinned> payload;
  };

  void Commit(std::uint8_t kind, std::span<const std::byte> body, std::span<const Pinned> payload);
  void CommitWaiting();
  // The first `n` committed bytes have left.
  void Drop(std::size_t n);
  // The run to append `bytes` copied bytes to.
  Run& CopyRun(std::size_t bytes);
  void Copy(std::span<const std::byte> bytes);
  void PushHead(const FrameHead& head, std::span<const std::byte> body);
  void EndFrame();

  std::size_t copy_bytes_max_;
  std::uint64_t ahead_bytes_ = SendAhead::kMost;
  std::deque<Run> runs_;
  std::size_t front_consumed_ = 0;
  std::uint64_t bytes_ = 0;         // committed
  std::uint64_t pinned_bytes_ = 0;  // of these
  std::size_t frames_ = 0;          // committed
  wire::OrderedFrames<Waiting> waiting_;
  std::uint64_t waiting_copied_bytes_ = 0, waiting_pinned_bytes_ = 0;
  std::size_t waiting_frames_ = 0;
  std::vector<std::byte> spare_;  // the last emptied run's memory, for the next one
};

}  // namespace leeway
