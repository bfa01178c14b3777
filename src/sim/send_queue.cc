#include "sim/send_queue.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>

#include "wire/frame.h"

namespace leeway::sim {

void SendQueue::Push(const FrameHead& head, std::span<const std::byte> body, std::span<const Pinned> payload,
                     bool marked, const FrameOrder& order) {
  const std::array<std::byte, wire::kHeaderBytes> header = wire::EncodeHeader(head);
  Frame frame(1);
  Piece& first = frame.front();
  first.own.resize(header.size() + body.size());
  std::memcpy(first.own.data(), header.data(), header.size());
  if (!body.empty()) std::memcpy(first.own.data() + header.size(), body.data(), body.size());
  std::uint64_t bytes = first.own.size();
  for (const Pinned& part : payload) {
    if (part.bytes.empty()) continue;
    bytes += part.bytes.size();
    frame.push_back({{}, part});
  }
  frame.back().ends_marked = marked;
  marked_ += marked ? 1 : 0;
  bytes_ += bytes;
  waiting_.Add(std::move(frame), order, bytes);
}

void SendQueue::PushRaw(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  bytes_ += bytes.size();
  waiting_.Add({Piece{{bytes.begin(), bytes.end()}, {}}}, {}, bytes.size());
}

std::vector<std::byte> SendQueue::Leave(std::size_t n, std::vector<std::size_t>& marked_ends) {
  n = std::min<std::uint64_t>(n, bytes_);
  std::vector<std::byte> out(n);
  std::size_t filled = 0;
  // Dropped last: a pin's owner that learns that its bytes have left may queue more.
  std::vector<std::shared_ptr<const void>> left;
  bytes_ -= n;
  while (filled < n) {
    if (pieces_.empty()) std::ranges::move(waiting_.TakeFirst(), std::back_inserter(pieces_));
    const std::span<const std::byte> piece = pieces_.front().bytes();
    const std::size_t take = std::min(n - filled, piece.size() - front_left_);
    std::memcpy(out.data() + filled, piece.data() + front_left_, take);
    filled += take;
    front_left_ += take;
    if (front_left_ == piece.size()) {
      if (pieces_.front().ends_marked) {
        marked_ends.push_back(filled);
        --marked_;
      }
      left.push_back(std::move(pieces_.front().pinned.pin));
      pieces_.pop_front();
      front_left_ = 0;
    }
  }
  return out;
}

void SendQueue::Clear() {
  const std::deque<Piece> dropped = std::exchange(pieces_, {});
  const wire::OrderedFrames<Frame> dropped_too = std::exchange(waiting_, {});
  marked_ = 0;
  front_left_ = 0;
  bytes_ = 0;
}

}  // namespace leeway::sim
