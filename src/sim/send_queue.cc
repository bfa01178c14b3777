#include "sim/send_queue.h"

#include <algorithm>
#include <array>
#include <utility>

#include "wire/frame.h"

namespace leeway::sim {

void SendQueue::Push(const FrameHead& head, std::span<const std::byte> body,
                     std::span<const Pinned> payload) {
  const std::array<std::byte, wire::kHeaderBytes> header = wire::EncodeHeader(head);
  Piece first;
  first.own.reserve(header.size() + body.size());
  first.own.insert(first.own.end(), header.begin(), header.end());
  first.own.insert(first.own.end(), body.begin(), body.end());
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
  std::vector<std::byte> out;
  out.reserve(n);
  // Dropped last: whoever learns by a pin that its bytes have left may queue more.
  std::vector<std::shared_ptr<const void>> left;
  bytes_ -= n;
  while (out.size() < n) {
    const std::span<const std::byte> piece = pieces_.front().bytes();
    const std::size_t take = std::min(n - out.size(), piece.size() - front_left_);
    const std::span<const std::byte> part = piece.subspan(front_left_, take);
    out.insert(out.end(), part.begin(), part.end());
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
