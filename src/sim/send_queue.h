// SendQueue: the queued frames of one end of a connection, as a stream of bytes.
//
// It reads payload bytes when they leave, not when they are queued, and drops their pins right then. So a
// test catches a sender that changes pinned bytes too early, by the bytes that arrive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "leeway/transport.h"

namespace leeway::sim {

class SendQueue {
 public:
  void Push(const FrameHead& head, std::span<const std::byte> body, std::span<const Pinned> payload);
  // Bytes that need not be a frame.
  void PushRaw(std::span<const std::byte> bytes);
  // Returns at most `n` next bytes of the stream, which have left now.
  [[nodiscard]] std::vector<std::byte> Leave(std::size_t n);
  // Drops everything, pins included.
  void Clear();
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] bool empty() const { return bytes_ == 0; }

 private:
  struct Piece {
    std::vector<std::byte> own;  // header and body
    Pinned pinned;               // or a payload
    [[nodiscard]] std::span<const std::byte> bytes() const {
      return own.empty() ? pinned.bytes : std::span<const std::byte>(own);
    }
  };
  std::deque<Piece> pieces_;
  std::size_t front_left_ = 0;  // bytes of the first piece that have left
  std::uint64_t bytes_ = 0;
};

}  // namespace leeway::sim
