// SendQueue: the queued frames of one end of a connection, as a stream of bytes. Frames that have not begun
// to leave are in the order of wire::SendOrder.
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
#include "wire/send_order.h"

namespace leeway::sim {

class SendQueue {
 public:
  void Push(const FrameHead& head, std::span<const std::byte> body, std::span<const Pinned> payload,
            bool marked, const FrameOrder& order);
  // Bytes that need not be a frame.
  void PushRaw(std::span<const std::byte> bytes);
  // Returns at most `n` next bytes of the stream, which have left now, and adds to `marked_ends` where in
  // them marked frames end.
  [[nodiscard]] std::vector<std::byte> Leave(std::size_t n, std::vector<std::size_t>& marked_ends);
  // Marked frames that have not left wholly.
  [[nodiscard]] std::size_t marked() const { return marked_; }
  // Drops everything, pins included.
  void Clear();
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] bool empty() const { return bytes_ == 0; }

 private:
  struct Piece {
    std::vector<std::byte> own;  // header and body
    Pinned pinned;               // or a payload
    bool ends_marked = false;    // the last piece of a marked frame
    [[nodiscard]] std::span<const std::byte> bytes() const {
      return own.empty() ? pinned.bytes : std::span<const std::byte>(own);
    }
  };
  using Frame = std::vector<Piece>;

  wire::OrderedFrames<Frame> waiting_;
  std::deque<Piece> pieces_;  // of the frame that leaves now
  std::size_t marked_ = 0;
  std::size_t front_left_ = 0;  // bytes of the first piece that have left
  std::uint64_t bytes_ = 0;
};

}  // namespace leeway::sim
