#include "sim/pipe.h"

#include <algorithm>
#include <utility>

#include "wire/frame.h"

namespace leeway::sim {

void Pipe::Queue(const FrameHead& head, std::span<const std::byte> body, std::span<const Pinned> payload,
                 bool verdict, const FrameOrder& order) {
  queue_.Push(head, body, payload, verdict, order);
}

void Pipe::QueueRaw(std::span<const std::byte> bytes) { queue_.PushRaw(bytes); }

std::vector<std::byte> Pipe::Leave(std::size_t n) {
  std::vector<std::size_t> ends;
  std::vector<std::byte> bytes = queue_.Leave(n, ends);
  for (const std::size_t end : ends) verdict_ends_.push_back(stream_bytes_ + end);
  stream_bytes_ += bytes.size();
  return bytes;
}

void Pipe::DropQueued() {
  verdicts_lost_ = verdicts_lost_ || queue_.marked() > 0;
  queue_.Clear();
}

void Pipe::Fly(Chunk chunk) {
  if (torn_ && chunk.kind == Chunk::Kind::kBytes) return;
  chunk.arrives = last_arrival_ = std::max(chunk.arrives, last_arrival_);
  bytes_in_flight_ += chunk.bytes.size();
  flight_.push_back(std::move(chunk));
}

Chunk Pipe::Land() {
  Chunk chunk = std::move(flight_.front());
  flight_.pop_front();
  bytes_in_flight_ -= chunk.bytes.size();
  arrived_bytes_ += chunk.bytes.size();
  while (!verdict_ends_.empty() && verdict_ends_.front() <= arrived_bytes_) verdict_ends_.pop_front();
  return chunk;
}

void Pipe::Tear(std::uint64_t keep) {
  torn_ = true;
  std::deque<Chunk> kept;
  bytes_in_flight_ = 0;
  for (Chunk& chunk : flight_) {
    const std::uint64_t room = keep - bytes_in_flight_;
    if (room == 0 && !chunk.bytes.empty()) break;  // and the chunks behind it wait too
    if (chunk.bytes.size() > room) chunk.bytes.resize(room);
    bytes_in_flight_ += chunk.bytes.size();
    kept.push_back(std::move(chunk));
  }
  flight_ = std::move(kept);
  last_arrival_ = flight_.empty() ? Duration::zero() : flight_.back().arrives;
}

}  // namespace leeway::sim
