#include "transport/stream/shared_connection.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/errors.h"
#include "transport/local/nontemporal_copy.h"
#include "transport/stream/queue_limits.h"
#include "wire/kind.h"

namespace leeway {
namespace {

// From memory of the peer's into places of ours, which have the same bytes together.
void CopyInto(std::span<const std::span<std::byte>> places, std::span<const std::span<const std::byte>> views,
              bool nontemporal) {
  std::size_t view = 0;
  std::size_t taken = 0;
  for (std::span<std::byte> place : places) {
    while (!place.empty()) {
      if (taken == views[view].size()) {
        ++view;
        taken = 0;
        continue;
      }
      const std::size_t n = std::min(place.size(), views[view].size() - taken);
      if (nontemporal) {
        CopyNontemporal(place.data(), views[view].data() + taken, n);
      } else {
        std::memcpy(place.data(), views[view].data() + taken, n);
      }
      place = place.subspan(n);
      taken += n;
    }
  }
}

}  // namespace

SharedConnection::SharedConnection(const ConnectionContext& context, NoteStream& beside,
                                   std::unique_ptr<SharedExchange> exchange)
    : context_(context),
      beside_(beside),
      exchange_(std::move(exchange)),
      queue_(context.options.copy_bytes_max) {}

SharedConnection::~SharedConnection() { context_.timers.Cancel(collect_timer_); }

Result<bool> SharedConnection::OnNote(NoteKind kind, std::span<const std::byte> body) {
  const bool was_ready = exchange_->ready();
  LW_RETURN_IF_ERROR(exchange_->OnNote(kind, body));
  return !was_ready && exchange_->ready();
}

void SharedConnection::BeginPipe(SendQueue queue) {
  queue_ = std::move(queue);
  pipe_ = &exchange_->pipe();
  reader_.emplace(static_cast<wire::FrameSink&>(*this), context_.options.staging_bytes);
  reader_->SetLimits(limits_);
}

void SharedConnection::SetLimits(const FrameLimits& limits) {
  limits_ = limits;
  limits_.carriers = FrameLimits::Carriers::kStreamAndShared;
  if (reader_) reader_->SetLimits(limits_);
}

Status SharedConnection::Read() {
  for (std::size_t read = 0; read < context_.options.turn_read_bytes_max;) {
    LW_ASSIGN_OR_RETURN(const std::size_t taken, pipe_->Take(reader_->Space()));
    if (taken == 0) break;
    last_received_ = context_.loop.TurnTime();
    Collect();
    if (reading_) {
      const Status status = reader_->Commit(taken);
      if (!reading_) break;
      LW_RETURN_IF_ERROR(status);
    }
    read += taken;
  }
  return Status::Ok();
}

Result<Landing> SharedConnection::OnFrameStart(const FrameHead& head, std::span<const std::byte> body) {
  LW_RETURN_IF_ERROR(CheckFrame());
  return context_.events.OnFrameStart(context_.id, head, body);
}

void SharedConnection::OnFrame(const FrameHead& head, std::span<const std::byte> body, Landing&& landing) {
  context_.events.OnFrame(context_.id, head, body, std::move(landing));
}

Status SharedConnection::OnCarried(const FrameHead& head, std::span<const std::byte> body) {
  LW_RETURN_IF_ERROR(CheckFrame());
  return OnSharedFrame(head, body);
}

Status SharedConnection::Resolve(const FrameHead& head, std::span<const std::byte>& body) {
  views_.clear();
  const std::span<const std::byte> whole = body;
  Status resolved = exchange_->Resolve(body, head.payload_bytes, views_);
  if (!resolved.ok() && piped()) {
    // A region that it names was sent through the socket before, and has perhaps not been read yet.
    LW_RETURN_IF_ERROR(beside_.ReadNotes());
    if (!reading_) return Status::Ok();
    views_.clear();
    body = whole;
    resolved = exchange_->Resolve(body, head.payload_bytes, views_);
  }
  if (resolved.ok()) return resolved;
  return resolved.WithContext(fmt::format("{} frame", wire::KindName(wire::Kind{head.kind})));
}

Status SharedConnection::Land(const FrameHead& head, Landing& landing) {
  if (landing.in_place) {
    landing.views = views_;
    landing.witness = exchange_->witness();
    return Status::Ok();
  }
  std::uint64_t bytes = 0;
  for (const std::span<std::byte> place : landing.places) bytes += place.size();
  if (bytes != head.payload_bytes) {
    return Internal("{} frame: got a landing of {} bytes, wanted {} bytes",
                    wire::KindName(wire::Kind{head.kind}), bytes, head.payload_bytes);
  }
  CopyInto(landing.places, views_, landing.of_bytes >= context_.options.nontemporal_bytes_min);
  // The peer may have taken its memory back while this process stood still.
  if (!exchange_->witness().Holds()) return Unavailable("it closed the connection while its memory was read");
  return Status::Ok();
}

Status SharedConnection::OnSharedFrame(FrameHead head, std::span<const std::byte> body) {
  LW_RETURN_IF_ERROR(Resolve(head, body));
  if (!reading_) return Status::Ok();
  if (body.size() > limits_.body_bytes_max) {
    return Protocol("{} header: got a body of {} bytes, wanted at most {}",
                    wire::KindName(wire::Kind{head.kind}), body.size(), limits_.body_bytes_max);
  }
  head.body_bytes = static_cast<std::uint32_t>(body.size());
  head.readable = true;
  LW_ASSIGN_OR_RETURN(Landing landing, context_.events.OnFrameStart(context_.id, head, body));
  if (!reading_) return Status::Ok();
  LW_RETURN_IF_ERROR(Land(head, landing));
  const bool in_place = landing.in_place;
  context_.events.OnFrame(context_.id, head, body, std::move(landing));
  exchange_->Consumed();
  // The node did not count what it read then, and would wait in vain for the outcome.
  if (in_place && reading_ && !exchange_->witness().Holds())
    return Unavailable("it took back its memory while that was read");
  return Status::Ok();
}

void SharedConnection::Send(std::uint8_t kind, std::span<const std::byte> body,
                            std::span<const Pinned> payload) {
  if (queue_.empty()) last_progress_ = context_.loop.TurnTime();
  if (!SendPlaces(kind, body, payload)) queue_.Push(kind, body, payload);
}

bool SharedConnection::SendPlaces(std::uint8_t kind, std::span<const std::byte> body,
                                  std::span<const Pinned> payload) {
  if (payload.empty()) return false;
  Collect();
  std::uint64_t bytes = 0;
  for (const Pinned& piece : payload) bytes += piece.bytes.size();
  if (bytes < context_.options.share_bytes_min * payload.size()) return false;
  notes_.clear();
  shared_body_.assign(body.begin(), body.end());
  if (exchange_->pinned_frames() == 0) last_collected_ = context_.loop.TurnTime();
  if (!exchange_->Refer(payload, notes_, shared_body_)) return false;
  for (const SharedExchange::Note& note : notes_) beside_.PushNote(note.kind, note.body, note.fd);
  queue_.PushShared(kind, shared_body_, bytes);
  unflushed_bytes_ += bytes;
  if (collect_timer_ == TimerId{}) CollectLater();
  return true;
}

void SharedConnection::CollectLater() {
  collect_timer_ = context_.timers.After(context_.options.collect_every, [this] {
    collect_timer_ = {};
    Collect();
    if (exchange_->pinned_frames() > 0) CollectLater();
  });
}

void SharedConnection::Collect() {
  if (exchange_->Collect()) last_collected_ = context_.loop.TurnTime();
}

Status SharedConnection::CheckPinned(const std::string& peer) const {
  if (exchange_->pinned_bytes() <= context_.options.queue_pinned_bytes_max) return Status::Ok();
  return CheckSharedStall(peer, exchange_->pinned_bytes(), exchange_->pinned_frames(),
                          context_.loop.TurnTime() - last_collected_, context_.options);
}

bool SharedConnection::Flush() {
  unflushed_bytes_ = 0;
  if (!beside_.FlushSocket() || waiting_) return false;
  std::size_t written = 0;
  while (!queue_.empty() && written < context_.options.turn_write_bytes_max) {
    std::array<iovec, kSendPiecesMax> pieces;
    const std::size_t used = queue_.Gather(pieces, context_.options.write_bytes_max);
    std::size_t put = 0;
    for (const iovec& piece : std::span(pieces).first(used)) {
      const std::size_t n = pipe_->Put({static_cast<const std::byte*>(piece.iov_base), piece.iov_len});
      put += n;
      if (n < piece.iov_len) break;
    }
    if (put == 0) {
      waiting_ = !pipe_->WaitForRoom();
      if (waiting_) break;
      continue;
    }
    pipe_->Publish();
    written += put;
    queue_.Consume(put);
  }
  if (written == 0) return false;
  if (!queue_.empty()) last_progress_ = EventLoop::Now();
  if (pipe_->TakePeerSleeps()) Ring();
  return !queue_.empty() && !waiting_;
}

void SharedConnection::RingIfPeerWaits() {
  if (pipe_->TakePeerWaits()) Ring();
}

// One that is queued is enough: the peer has not heard it yet.
void SharedConnection::Ring() {
  if (std::exchange(bell_queued_, true) && beside_.HasUnsent()) return;
  beside_.PushNote(NoteKind::kBell, {}, -1);
  (void)beside_.FlushSocket();
}

// The loop is awake and finds new bytes by itself.
bool SharedConnection::OnBell() { return std::exchange(waiting_, false); }

}  // namespace leeway
