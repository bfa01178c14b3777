// How a connection sends: what is queued in a turn leaves at its end.
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/errors.h"
#include "transport/stream/stream_connection.h"

namespace leeway {

void StreamConnection::Send(std::uint8_t kind, std::span<const std::byte> body,
                            std::span<const Pinned> payload) {
  if (state_ == State::kEnded || lingering_ || (state_ == State::kOpen && !failure_.ok())) return;
  if (queue_.empty()) last_progress_ = loop_.TurnTime();
  if (!SendShared(kind, body, payload)) queue_.Push(kind, body, payload);
  if (Status status = WhyQueueIsTooLong(); !status.ok()) {
    failure_ = std::move(status);
    queue_.Clear();
    owner_.RunLater(id_, &StreamConnection::FailPending);
    return;
  }
  if (state_ != State::kOpen || write_waiting_) return;
  if (!std::exchange(flush_wanted_, true)) owner_.FlushAtTurnEnd(id_);
  // Enough for a wake-up of its own: the peer works on it while this turn goes on.
  const bool enough = queue_.copied_bytes() >= options_.turn_copied_bytes_max ||
                      unflushed_shared_bytes_ >= options_.turn_shared_bytes_max;
  if (enough && queue_.pinned_bytes() == 0) Flush();
}

Status StreamConnection::WhyQueueIsTooLong() const {
  if (exchange_ != nullptr && exchange_->pinned_bytes() > options_.queue_pinned_bytes_max) {
    const Duration since = loop_.TurnTime() - last_collected_;
    if (since >= options_.stall_max) {
      return ResourceExhausted(
          "{} does not take what is shared with it: {} bytes of {} frames wait and none was taken for {} ms; "
          "at most {} bytes may wait",
          peer_, exchange_->pinned_bytes(), exchange_->pinned_frames(),
          std::chrono::duration_cast<std::chrono::milliseconds>(since).count(),
          options_.queue_pinned_bytes_max);
    }
  }
  if (queue_.frames() <= options_.queue_frames_max &&
      queue_.copied_bytes() <= options_.queue_copied_bytes_max &&
      queue_.pinned_bytes() <= options_.queue_pinned_bytes_max) {
    return Status::Ok();
  }
  // The end of this turn will be the first to offer it to the kernel.
  if (state_ == State::kOpen && !write_waiting_ && !beside_waiting_) return Status::Ok();
  const Duration since = loop_.TurnTime() - last_progress_;
  if (since < options_.stall_max) return Status::Ok();
  return ResourceExhausted(
      "{} does not read what is sent to it: {} frames, {} copied and {} pinned bytes are queued and none has "
      "left for {} ms; at most {} frames, {} copied and {} pinned bytes may wait",
      peer_, queue_.frames(), queue_.copied_bytes(), queue_.pinned_bytes(),
      std::chrono::duration_cast<std::chrono::milliseconds>(since).count(), options_.queue_frames_max,
      options_.queue_copied_bytes_max, options_.queue_pinned_bytes_max);
}

void StreamConnection::Flush() {
  flush_wanted_ = false;
  unflushed_shared_bytes_ = 0;
  if (state_ != State::kOpen) return;
  if (pipe_ == nullptr) {
    FlushSocket(queue_, write_waiting_);
  } else if (FlushSocket(beside_, beside_waiting_)) {
    FlushPipe();
  }
  if (lingering_ && queue_.empty() && beside_.empty()) FinishLinger();
}

bool StreamConnection::FlushSocket(SendQueue& queue, bool& waiting) {
  if (waiting) return false;
  std::size_t written = 0;
  while (!queue.empty() && written < options_.turn_write_bytes_max) {
    std::array<iovec, kSendPiecesMax> pieces;
    const std::size_t used = queue.Gather(pieces, options_.write_bytes_max);
    const ssize_t n = SendPieces(std::span(pieces).first(used), queue.Descriptor());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && IsWouldBlock(errno)) break;
    if (n < 0) {
      BreakSending(errno);
      return false;
    }
    written += static_cast<std::size_t>(n);
    queue.Consume(static_cast<std::size_t>(n));
  }
  if (queue.empty()) return true;
  // Not the time of the turn, at whose end this is: it may have been a long one.
  if (written > 0) last_progress_ = EventLoop::Now();
  waiting = true;
  watch_->WaitWritable();
  return false;
}

}  // namespace leeway
