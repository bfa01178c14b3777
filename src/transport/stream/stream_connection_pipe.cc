// How frames go through shared memory (BytePipe), and what the socket is for then: descriptors, bells, the
// end.
#include <array>
#include <cerrno>
#include <utility>

#include "base/errors.h"
#include "transport/stream/stream_connection.h"

namespace leeway {

void StreamConnection::BeginPipe() {
  pipe_ = &exchange_->pipe();
  pipe_reader_.emplace(static_cast<wire::FrameSink&>(*this), options_.staging_bytes);
  SetLimits(limits_);
  owner_.OnPiped(id_);
}

bool StreamConnection::PollPipe() {
  if (!ReadsPipe() || !pipe_->HasBytes()) return false;
  ReadPipe();
  if (IsUp() && pipe_->TakePeerWaits()) Ring();
  return true;
}

bool StreamConnection::PipeMaySleep() { return !ReadsPipe() || pipe_->MaySleep(); }

void StreamConnection::OnPipeAwake() {
  if (ReadsPipe()) pipe_->OnAwake();
}

bool StreamConnection::ReceivePiped() {
  const std::span<std::byte> space = pipe_reader_->Space();
  const Result<std::size_t> taken = pipe_->Take(space);
  if (!taken.ok()) {
    Fail(taken.status().WithContext("from " + peer_));
    return false;
  }
  if (*taken == 0) return false;
  last_received_ = loop_.TurnTime();
  CollectShared();  // as in Receive
  if (!lingering_) {
    const Status status = pipe_reader_->Commit(*taken);
    if (!KeepReading()) return false;
    if (!status.ok()) {
      Fail(status.WithContext("from " + peer_));
      return false;
    }
  }
  turn_read_bytes_ += *taken;
  return turn_read_bytes_ < options_.turn_read_bytes_max;
}

void StreamConnection::ReadPipe() {
  if (!ReadsPipe()) return;
  turn_read_bytes_ = 0;
  while (ReceivePiped()) {
  }
}

void StreamConnection::FlushPipe() {
  if (write_waiting_) return;
  std::size_t written = 0;
  while (!queue_.empty() && written < options_.turn_write_bytes_max) {
    std::array<iovec, kSendPiecesMax> pieces;
    const std::size_t used = queue_.Gather(pieces, options_.write_bytes_max);
    std::size_t put = 0;
    for (const iovec& piece : std::span(pieces).first(used)) {
      const std::size_t n = pipe_->Put({static_cast<const std::byte*>(piece.iov_base), piece.iov_len});
      put += n;
      if (n < piece.iov_len) break;
    }
    if (put == 0) {
      write_waiting_ = !pipe_->WaitForRoom();
      if (write_waiting_) break;
      continue;
    }
    pipe_->Publish();
    written += put;
    queue_.Consume(put);
  }
  if (written == 0) return;
  if (!queue_.empty()) last_progress_ = EventLoop::Now();
  if (pipe_->TakePeerSleeps()) Ring();
  if (!queue_.empty() && !write_waiting_) owner_.RunLater(id_, &StreamConnection::Flush);
}

// One that is queued is enough: the peer has not heard it yet.
void StreamConnection::Ring() {
  if (std::exchange(bell_queued_, true) && !beside_.empty()) return;
  beside_.PushNote(static_cast<std::uint8_t>(NoteKind::kBell), {}, -1);
  (void)FlushSocket(beside_, beside_waiting_);
}

// That there is something to read the loop finds by itself, awake as it is.
void StreamConnection::OnBell() {
  if (!std::exchange(write_waiting_, false)) return;
  if (!std::exchange(flush_wanted_, true)) owner_.FlushAtTurnEnd(id_);
}

// To the end: the system ends a read after each descriptor.
Status StreamConnection::ReadBeside() {
  for (std::size_t read = 0; read < options_.turn_read_bytes_max;) {
    const ssize_t n = ReceiveInto(reader_->Space());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;  // the end of the connection is found by who waits for the socket
    LW_RETURN_IF_ERROR(reader_->Commit(static_cast<std::size_t>(n)));
    read += static_cast<std::size_t>(n);
  }
  return Status::Ok();
}

}  // namespace leeway
