// SendQueue: the frames that one end of a connection has queued, as the stream of bytes they will be.
//
// Payload bytes are read when they leave, not when they are queued, and their pins are dropped right then: a
// sender that changes pinned bytes too early is caught by what arrives.
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
  // The next at most `n` bytes of the stream, which have left now.
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
