#include "transport/stream/send_queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "wire/frame.h"

namespace leeway {
namespace {

// A run takes no further frames beyond this, so that its memory is freed or reused while a long queue drains.
constexpr std::size_t kRunBytesMax = 64 * 1024;

}  // namespace

SendQueue::Run& SendQueue::CopyRun(std::size_t bytes) {
  if (runs_.empty() || !runs_.back().pinned.empty() || runs_.back().fd >= 0 ||
      runs_.back().copied.size() + bytes > kRunBytesMax) {
    runs_.emplace_back().copied = std::exchange(spare_, {});
  }
  return runs_.back();
}

void SendQueue::Copy(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  std::vector<std::byte>& to = CopyRun(bytes.size()).copied;
  to.insert(to.end(), bytes.begin(), bytes.end());
  bytes_ += bytes.size();
}

void SendQueue::PushHead(const FrameHead& head, std::span<const std::byte> body) {
  Copy(wire::EncodeHeader(head));
  Copy(body);
}

void SendQueue::EndFrame() {
  ++runs_.back().frames_ended;
  ++frames_;
}

void SendQueue::Push(std::uint8_t kind, std::span<const std::byte> body, std::span<const Pinned> payload,
                     const FrameOrder& order) {
  const bool commit = bytes_ < ahead_bytes_ || order.kind == FrameOrder::Kind::kInOrder;
  if (waiting_.empty() && commit) return Commit(kind, body, payload);
  std::uint64_t bytes = wire::kHeaderBytes + body.size();
  waiting_copied_bytes_ += bytes;
  for (const Pinned& piece : payload) {
    bytes += piece.bytes.size();
    (piece.bytes.size() < copy_bytes_max_ ? waiting_copied_bytes_ : waiting_pinned_bytes_) +=
        piece.bytes.size();
  }
  ++waiting_frames_;
  waiting_.Add({kind, {body.begin(), body.end()}, {payload.begin(), payload.end()}}, order, bytes);
}

void SendQueue::CommitWaiting() {
  while (!waiting_.empty() && bytes_ < ahead_bytes_) {
    const Waiting frame = waiting_.TakeFirst();
    --waiting_frames_;
    waiting_copied_bytes_ -= wire::kHeaderBytes + frame.body.size();
    for (const Pinned& piece : frame.payload) {
      (piece.bytes.size() < copy_bytes_max_ ? waiting_copied_bytes_ : waiting_pinned_bytes_) -=
          piece.bytes.size();
    }
    Commit(frame.kind, frame.body, frame.payload);
  }
}

void SendQueue::Commit(std::uint8_t kind, std::span<const std::byte> body, std::span<const Pinned> payload) {
  FrameHead head{.kind = kind, .body_bytes = static_cast<std::uint32_t>(body.size()), .payload_bytes = 0};
  for (const Pinned& piece : payload) head.payload_bytes += piece.bytes.size();
  PushHead(head, body);
  for (const Pinned& piece : payload) {
    if (piece.bytes.size() < copy_bytes_max_) {
      Copy(piece.bytes);
      continue;
    }
    Run& run = runs_.emplace_back();
    run.pinned = piece.bytes;
    run.pin = piece.pin;
    bytes_ += piece.bytes.size();
    pinned_bytes_ += piece.bytes.size();
  }
  EndFrame();
}

void SendQueue::PushShared(std::uint8_t kind, std::span<const std::byte> body, std::uint64_t payload_bytes) {
  PushHead({.kind = kind,
            .body_bytes = static_cast<std::uint32_t>(body.size()),
            .payload_bytes = payload_bytes,
            .carrier = wire::kShared},
           body);
  EndFrame();
}

void SendQueue::PushNote(std::uint8_t kind, std::span<const std::byte> body, int fd) {
  if (fd >= 0) runs_.emplace_back().copied = std::exchange(spare_, {});
  PushHead({.kind = kind,
            .body_bytes = static_cast<std::uint32_t>(body.size()),
            .payload_bytes = 0,
            .carrier = wire::kNote},
           body);
  if (fd >= 0) runs_.back().fd = fd;
  EndFrame();
}

int SendQueue::Descriptor() const { return runs_.empty() || front_consumed_ > 0 ? -1 : runs_.front().fd; }

std::size_t SendQueue::Gather(std::span<iovec> out, std::size_t bytes_max) const {
  std::size_t used = 0;
  std::size_t skip = front_consumed_;
  for (const Run& run : runs_) {
    if (used == out.size() || bytes_max == 0) break;
    // A descriptor goes with the first byte of a system call, and nothing is joined to what it goes with.
    if (used > 0 && (run.fd >= 0 || runs_.front().fd >= 0)) break;
    std::span<const std::byte> bytes = run.bytes().subspan(skip);
    skip = 0;
    bytes = bytes.first(std::min(bytes.size(), bytes_max));
    bytes_max -= bytes.size();
    out[used++] = {.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
  }
  return used;
}

void SendQueue::Consume(std::size_t n) {
  LW_CHECK(n <= bytes_, "{} of {}", n, bytes_);
  Drop(n);
  CommitWaiting();
}

void SendQueue::Drop(std::size_t n) {
  bytes_ -= n;
  while (n > 0) {
    Run& run = runs_.front();
    const std::size_t left = run.bytes().size() - front_consumed_;
    const std::size_t taken = std::min(n, left);
    if (!run.pinned.empty()) pinned_bytes_ -= taken;
    n -= taken;
    front_consumed_ += taken;
    if (taken < left) return;
    frames_ -= run.frames_ended;
    front_consumed_ = 0;
    // The memory of a rare huge frame (a status reply) goes with it.
    const std::size_t capacity = run.copied.capacity();
    if (run.pinned.empty() && capacity > spare_.capacity() && capacity <= 2 * kRunBytesMax) {
      spare_ = std::move(run.copied);
      spare_.clear();
    }
    // The pin is dropped last: what its owner does then may look at this queue.
    const Run done = std::move(run);
    runs_.pop_front();
  }
}

void SendQueue::Clear() {
  const std::deque<Run> dropped = std::exchange(runs_, {});
  const wire::OrderedFrames<Waiting> dropped_too = std::exchange(waiting_, {});
  waiting_copied_bytes_ = waiting_pinned_bytes_ = 0;
  waiting_frames_ = 0;
  front_consumed_ = 0;
  bytes_ = pinned_bytes_ = 0;
  frames_ = 0;
}

}  // namespace leeway
