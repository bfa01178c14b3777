// What shared memory adds to a connection: the greeting, descriptors, payloads that are places.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/errors.h"
#include "transport/local/past_cache.h"
#include "transport/stream/stream_connection.h"
#include "wire/kind.h"

namespace leeway {
namespace {

constexpr std::size_t kDescriptorsPerCall = 16;
using ControlBytes = std::array<char, CMSG_SPACE(kDescriptorsPerCall * sizeof(int))>;

// From memory of the peer's into places of ours, which have the same bytes together.
void CopyInto(std::span<const std::span<std::byte>> places, std::span<const std::span<const std::byte>> views,
              bool past_cache) {
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
      if (past_cache) {
        CopyPastCache(place.data(), views[view].data() + taken, n);
      } else {
        std::memcpy(place.data(), views[view].data() + taken, n);
      }
      place = place.subspan(n);
      taken += n;
    }
  }
}

}  // namespace

// Written at once, past the queue: it is little, and the socket is new.
void StreamConnection::BeginGreeting() {
  state_ = State::kGreeting;
  exchange_ = owner_.MakeExchange();
  if (exchange_ == nullptr) return GiveUpGreeting(Unavailable("this process has no shared memory"));
  SetLimits(limits_);
  Result<std::vector<SharedExchange::Note>> notes = exchange_->Greet();
  if (!notes.ok()) return GiveUpGreeting(notes.status());
  for (const SharedExchange::Note& note : *notes) {
    SendQueue bytes(options_.copy_bytes_max);
    bytes.PushNote(static_cast<std::uint8_t>(note.kind), note.body, note.fd);
    std::array<iovec, 1> piece;
    if (bytes.Gather(piece, bytes.bytes()) != 1 ||
        SendPieces(piece, bytes.Descriptor()) != static_cast<ssize_t>(bytes.bytes())) {
      return GiveUpGreeting(Unavailable("descriptors cannot be passed: {}", ErrnoText(errno)));
    }
  }
  if (!greeting_until_) greeting_until_ = EventLoop::Now() + options_.greeting_max;
  const Duration left = std::max(*greeting_until_ - EventLoop::Now(), Duration::zero());
  greeting_timer_ = owner_.RunAfter(left, id_, &StreamConnection::GreetingTooLong);
}

void StreamConnection::GreetingTooLong() {
  if (state_ != State::kGreeting) return;
  // The time is for all of them together.
  while (!candidates_.empty() && candidates_.back().IsUnix()) candidates_.pop_back();
  GiveUpGreeting(DeadlineExceeded("no greeting within {} ms", options_.greeting_max.count()));
}

void StreamConnection::GiveUpGreeting(const Status& why) {
  owner_.CancelTimer(std::exchange(greeting_timer_, {}));
  state_ = State::kConnecting;
  failure_ = Unavailable("cannot connect to {} over its Unix socket: {}", peer_, why.message());
  why_not_shared_ = why.message();
  TryNextCandidate();
}

Status StreamConnection::OnCarried(const FrameHead& head, std::span<const std::byte> body) {
  LW_RETURN_IF_ERROR(exchange_->broken());
  if (head.carrier == wire::kNote) return OnNote(NoteKind{head.kind}, body);
  return OnSharedFrame(head, body);
}

Status StreamConnection::OnNote(NoteKind kind, std::span<const std::byte> body) {
  if (kind == NoteKind::kPlain) return OnPlain(body);
  if (kind == NoteKind::kBell) {
    if (pipe_ == nullptr || !body.empty())
      return Protocol("a bell with {} bytes, wanted an empty one, of one that has a pipe", body.size());
    OnBell();
    return Status::Ok();
  }
  const bool was_ready = exchange_->ready();
  LW_RETURN_IF_ERROR(exchange_->OnNote(kind, body));
  if (was_ready || !exchange_->ready()) return Status::Ok();
  if (state_ == State::kGreeting) {
    owner_.CancelTimer(std::exchange(greeting_timer_, {}));
    why_not_shared_.clear();
    OnUp();
    return Status::Ok();
  }
  AnswerGreeting();
  return Status::Ok();
}

void StreamConnection::AnswerGreeting() {
  Result<std::vector<SharedExchange::Note>> notes = std::vector<SharedExchange::Note>();
  if (options_.carrier != Carrier::kUds) {
    notes = exchange_->Greet();
    if (!notes.ok()) {
      owner_.Write(LogLevel::kWarning,
                   fmt::format("memory cannot be shared with {} ({}): frames go through its Unix socket",
                               peer_, notes.status().message()));
    }
  }
  if (!notes.ok() || notes->empty()) {
    queue_.PushNote(static_cast<std::uint8_t>(NoteKind::kPlain), {}, -1);
    ShareNothing();
  } else {
    for (const SharedExchange::Note& note : *notes)
      queue_.PushNote(static_cast<std::uint8_t>(note.kind), note.body, note.fd);
    // All up to the greeting goes through the socket, whatever comes after it through the pipe.
    std::swap(queue_, beside_);
    beside_waiting_ = std::exchange(write_waiting_, false);
    BeginPipe();
  }
  if (!write_waiting_ && !std::exchange(flush_wanted_, true)) owner_.FlushAtTurnEnd(id_);
}

Status StreamConnection::OnPlain(std::span<const std::byte> body) {
  if (state_ != State::kGreeting || !body.empty())
    return Protocol("a note of kind 3 with {} bytes, wanted an empty one that answers a greeting",
                    body.size());
  why_not_shared_ = "it shares no memory: --transport uds there, or none can be made";
  if (options_.carrier == Carrier::kLocal) return FailedPrecondition("{}", why_not_shared_);
  owner_.CancelTimer(std::exchange(greeting_timer_, {}));
  ShareNothing();
  OnUp();
  return Status::Ok();
}

void StreamConnection::ShareNothing() {
  exchange_.reset();
  SetLimits(limits_);
}

Status StreamConnection::OnSharedFrame(FrameHead head, std::span<const std::byte> body) {
  views_.clear();
  const std::span<const std::byte> whole = body;
  Status resolved = exchange_->Resolve(body, head.payload_bytes, views_);
  if (!resolved.ok() && pipe_ != nullptr) {
    // A region that it names was sent through the socket before, and has perhaps not been read yet.
    LW_RETURN_IF_ERROR(ReadBeside());
    if (!KeepReading()) return Status::Ok();
    views_.clear();
    body = whole;
    resolved = exchange_->Resolve(body, head.payload_bytes, views_);
  }
  if (!resolved.ok())
    return resolved.WithContext(fmt::format("{} frame", wire::KindName(wire::Kind{head.kind})));
  if (body.size() > limits_.body_bytes_max) {
    return Protocol("{} header: got a body of {} bytes, wanted at most {}",
                    wire::KindName(wire::Kind{head.kind}), body.size(), limits_.body_bytes_max);
  }
  head.body_bytes = static_cast<std::uint32_t>(body.size());
  head.readable = true;
  LW_ASSIGN_OR_RETURN(Landing landing, events_.OnFrameStart(id_, head, body));
  if (!KeepReading()) return Status::Ok();
  if (landing.in_place) {
    landing.views = views_;
    landing.witness = exchange_->witness();
  } else {
    std::uint64_t bytes = 0;
    for (const std::span<std::byte> place : landing.places) bytes += place.size();
    if (bytes != head.payload_bytes) {
      return Internal("{} frame: got a landing of {} bytes, wanted {} bytes",
                      wire::KindName(wire::Kind{head.kind}), bytes, head.payload_bytes);
    }
    CopyInto(landing.places, views_, landing.of_bytes >= options_.past_cache_bytes_min);
    // The peer may have taken its memory back while this process stood still.
    if (!exchange_->witness().Holds())
      return Unavailable("it closed the connection while its memory was read");
  }
  const bool in_place = landing.in_place;
  events_.OnFrame(id_, head, body, std::move(landing));
  exchange_->Consumed();
  // What was read of it did not count, and nothing would come of waiting for what it was sent for.
  if (in_place && KeepReading() && !exchange_->witness().Holds())
    return Unavailable("it took back its memory while that was read");
  return Status::Ok();
}

bool StreamConnection::SendShared(std::uint8_t kind, std::span<const std::byte> body,
                                  std::span<const Pinned> payload) {
  if (exchange_ == nullptr || payload.empty() || state_ != State::kOpen) return false;
  CollectShared();
  std::uint64_t bytes = 0;
  for (const Pinned& piece : payload) bytes += piece.bytes.size();
  if (bytes < options_.share_bytes_min * payload.size()) return false;
  notes_.clear();
  shared_body_.assign(body.begin(), body.end());
  if (exchange_->pinned_frames() == 0) last_collected_ = loop_.TurnTime();
  if (!exchange_->Refer(payload, notes_, shared_body_)) return false;
  for (const SharedExchange::Note& note : notes_)
    beside_.PushNote(static_cast<std::uint8_t>(note.kind), note.body, note.fd);
  queue_.PushShared(kind, shared_body_, bytes);
  unflushed_shared_bytes_ += bytes;
  if (collect_timer_ == TimerId{})
    collect_timer_ = owner_.RunAfter(options_.collect_every, id_, &StreamConnection::CollectLater);
  return true;
}

void StreamConnection::CollectLater() {
  collect_timer_ = {};
  CollectShared();
  if (exchange_->pinned_frames() > 0)
    collect_timer_ = owner_.RunAfter(options_.collect_every, id_, &StreamConnection::CollectLater);
}

void StreamConnection::CollectShared() {
  if (exchange_ != nullptr && exchange_->Collect()) last_collected_ = loop_.TurnTime();
}

ssize_t StreamConnection::ReceiveInto(std::span<std::byte> space) {
  if (exchange_ == nullptr) return recv(socket_.fd(), space.data(), space.size(), 0);
  iovec piece{.iov_base = space.data(), .iov_len = space.size()};
  alignas(cmsghdr) ControlBytes control;
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t n = recvmsg(socket_.fd(), &message, MSG_CMSG_CLOEXEC);
  if (n < 0) return n;
  if ((message.msg_flags & MSG_CTRUNC) != 0) exchange_->LoseDescriptors(kDescriptorsPerCall);
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      exchange_->TakeDescriptor(Descriptor(fd));
    }
  }
  return n;
}

ssize_t StreamConnection::SendPieces(std::span<iovec> pieces, int descriptor) const {
  // A small message is one piece, and the kernel is sooner done with a plain call.
  if (pieces.size() == 1 && descriptor < 0) {
    return send(socket_.fd(), pieces[0].iov_base, pieces[0].iov_len, MSG_NOSIGNAL);
  }
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = pieces.size();
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  if (descriptor >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(part), &descriptor, sizeof descriptor);
  }
  return sendmsg(socket_.fd(), &message, MSG_NOSIGNAL);
}

}  // namespace leeway
