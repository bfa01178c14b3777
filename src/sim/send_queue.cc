#include "sim/send_queue.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "wire/frame.h"

namespace leeway::sim {

void SendQueue::Push(const FrameHead& head, std::span<const std::byte> body,
                     std::span<const Pinned> payload) {
  const std::array<std::byte, wire::kHeaderBytes> header = wire::EncodeHeader(head);
  Piece first;
  first.own.resize(header.size() + body.size());
  std::memcpy(first.own.data(), header.data(), header.size());
  if (!body.empty()) std::memcpy(first.own.data() + header.size(), body.data(), body.size());
  bytes_ += first.own.size();
  pieces_.push_back(std::move(first));
  for (const Pinned& part : payload) {
    if (part.bytes.empty()) continue;
    bytes_ += part.bytes.size();
    pieces_.push_back({{}, part});
  }
}

void SendQueue::PushRaw(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  bytes_ += bytes.size();
  pieces_.push_back({{bytes.begin(), bytes.end()}, {}});
}

std::vector<std::byte> SendQueue::Leave(std::size_t n) {
  n = std::min<std::uint64_t>(n, bytes_);
  std::vector<std::byte> out(n);
  std::size_t filled = 0;
  // Dropped last: a pin's owner that learns that its bytes have left may queue more.
  std::vector<std::shared_ptr<const void>> left;
  bytes_ -= n;
  while (filled < n) {
    const std::span<const std::byte> piece = pieces_.front().bytes();
    const std::size_t take = std::min(n - filled, piece.size() - front_left_);
    std::memcpy(out.data() + filled, piece.data() + front_left_, take);
    filled += take;
    front_left_ += take;
    if (front_left_ == piece.size()) {
      left.push_back(std::move(pieces_.front().pinned.pin));
      pieces_.pop_front();
      front_left_ = 0;
    }
  }
  return out;
}

void SendQueue::Clear() {
  const std::deque<Piece> dropped = std::exchange(pieces_, {});
  front_left_ = 0;
  bytes_ = 0;
}

}  // namespace leeway::sim
