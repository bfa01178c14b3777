#include "transport/stream/stream_connection.h"

#include <cerrno>
#include <utility>

#include "base/errors.h"
#include "transport/stream/queue_limits.h"
#include "wire/frame.h"

namespace leeway {

StreamConnection::StreamConnection(const ConnectionContext& context, Owner& owner)
    : context_(context), owner_(owner), dialing_(context.options), socket_(context, *this) {}

StreamConnection::~StreamConnection() {
  context_.timers.Cancel(linger_timer_);
  context_.timers.Cancel(greeting_timer_);
}

void StreamConnection::Connect(const std::string& address) {
  peer_ = address;
  if (const std::optional<Endpoint> endpoint = dialing_.Begin(address)) {
    owner_.ResolveFor(context_.id, *endpoint);
  } else {
    TryNextAddress();
  }
}

void StreamConnection::OnResolved(const Result<std::vector<SocketAddress>>& found) {
  if (const Status status = dialing_.OnResolved(found); !status.ok()) return Fail(status);
  TryNextAddress();
}

// Connect itself calls this too, so failures are reported in a turn of their own.
void StreamConnection::TryNextAddress() {
  socket_.Unwatch();
  while (const std::optional<SocketAddress> to = dialing_.Next()) {
    const Result<int> error = socket_.Connect(*to);
    if (!error.ok()) {
      dialing_.OnNoSocket(error.status());
      continue;
    }
    shared_.reset();  // after its socket
    if (*error != 0) {
      dialing_.OnRefused(*to, *error);
    } else if (to->IsUnix()) {
      return owner_.RunLater(context_.id, &StreamConnection::OnConnectReady);  // it is up at once
    } else {
      return socket_.WaitWritable();
    }
  }
  failure_ = dialing_.failure();
  owner_.RunLater(context_.id, &StreamConnection::FailPending);
}

void StreamConnection::OnConnectReady() {
  if (const int error = socket_.ConnectError(); error != 0) {
    dialing_.OnConnectError(error);
    return TryNextAddress();
  }
  // An abstract name belongs to whoever took it first.
  if (socket_.over_unix() && !socket_.socket().PeerProcess().same_user)
    return GiveUpGreeting(FailedPrecondition("another user listens at its Unix socket"));
  socket_.WaitReadable();
  if (socket_.over_unix() && context_.options.carrier != Carrier::kUds) return BeginGreeting();
  OnUp();
}

void StreamConnection::OnUp() {
  state_ = State::kOpen;
  if (shared_) BeginPipe(socket_.TakeQueue());
  if (lingering_) {
    StopReading();
  } else {
    context_.events.OnConnected(context_.id);
  }
  if (state_ != State::kOpen) return;
  if (lingering_ && queue().empty()) return socket_.ShutDownSending();
  if (!queue().empty()) Flush();
}

// Written at once, past the queue: it is little, and the socket is new.
void StreamConnection::BeginGreeting() {
  state_ = State::kGreeting;
  if (!OfferShared()) return GiveUpGreeting(Unavailable("this process has no shared memory"));
  const Result<std::vector<SharedExchange::Note>> notes = shared_->Greet();
  if (!notes.ok()) return GiveUpGreeting(notes.status());
  for (const SharedExchange::Note& note : *notes) {
    if (!socket_.WriteNote(note.kind, note.body, note.fd))
      return GiveUpGreeting(Unavailable("descriptors cannot be passed: {}", ErrnoText(errno)));
  }
  greeting_timer_ = context_.timers.After(dialing_.GreetingTime(EventLoop::Now()), [this] {
    if (state_ != State::kGreeting) return;
    dialing_.DropUnix();
    GiveUpGreeting(DeadlineExceeded("no greeting within {} ms", context_.options.greeting_max.count()));
  });
}

void StreamConnection::GiveUpGreeting(const Status& why) {
  context_.timers.Cancel(std::exchange(greeting_timer_, {}));
  state_ = State::kConnecting;
  why_not_shared_ = why.message();
  dialing_.OnNotShared(why);
  TryNextAddress();
}

Status StreamConnection::OnCarried(const FrameHead& head, std::span<const std::byte> body) {
  LW_RETURN_IF_ERROR(shared_->CheckFrame());
  if (head.carrier != wire::kNote) return shared_->OnSharedFrame(head, body);
  const NoteKind kind{head.kind};
  if (kind == NoteKind::kPlain) return OnPlain(body);
  if (kind == NoteKind::kBell) {
    if (!IsPiped() || !body.empty())
      return Protocol("a bell with {} bytes, wanted an empty one, of one that has a pipe", body.size());
    if (shared_->OnBell()) FlushAtTurnEnd();
    return Status::Ok();
  }
  LW_ASSIGN_OR_RETURN(const bool greeted, shared_->OnNote(kind, body));
  if (!greeted) return Status::Ok();
  if (state_ != State::kGreeting) {
    AnswerGreeting();
  } else {
    context_.timers.Cancel(std::exchange(greeting_timer_, {}));
    why_not_shared_.clear();
    OnUp();
  }
  return Status::Ok();
}

void StreamConnection::AnswerGreeting() {
  Result<std::vector<SharedExchange::Note>> notes = std::vector<SharedExchange::Note>();
  if (context_.options.carrier != Carrier::kUds) {
    notes = shared_->Greet();
    if (!notes.ok()) {
      owner_.Write(LogLevel::kWarning,
                   fmt::format("memory cannot be shared with {} ({}): frames go through its Unix socket",
                               peer_, notes.status().message()));
    }
  }
  if (!notes.ok() || notes->empty()) {
    socket_.PushNote(NoteKind::kPlain, {}, -1);
    ShareNothing();
  } else {
    // All up to the greeting goes through the socket, whatever comes after it through the pipe.
    for (const SharedExchange::Note& note : *notes) socket_.PushNote(note.kind, note.body, note.fd);
    BeginPipe(SendQueue(context_.options.copy_bytes_max));
  }
  if (!IsWaiting()) FlushAtTurnEnd();
}

Status StreamConnection::OnPlain(std::span<const std::byte> body) {
  if (state_ != State::kGreeting || !body.empty())
    return Protocol("a note of kind 3 with {} bytes, wanted an empty one that answers a greeting",
                    body.size());
  why_not_shared_ = "it shares no memory: --transport uds there, or none can be made";
  if (context_.options.carrier == Carrier::kLocal) return FailedPrecondition("{}", why_not_shared_);
  context_.timers.Cancel(std::exchange(greeting_timer_, {}));
  ShareNothing();
  OnUp();
  return Status::Ok();
}

bool StreamConnection::OfferShared() {
  std::unique_ptr<SharedExchange> exchange = owner_.MakeExchange();
  if (exchange == nullptr) return false;
  shared_.emplace(context_, socket_, std::move(exchange));
  shared_->SetLimits(socket_.limits());
  socket_.SetCarriers(FrameLimits::Carriers::kAll);
  return true;
}

void StreamConnection::ShareNothing() {
  shared_.reset();
  socket_.SetCarriers(FrameLimits::Carriers::kStream);
}

void StreamConnection::BeginPipe(SendQueue queue) {
  shared_->BeginPipe(std::move(queue));
  socket_.SetCarriers(FrameLimits::Carriers::kNotes);
  owner_.OnPiped(context_.id);
}

bool StreamConnection::PollPipe() {
  if (state_ != State::kOpen || !shared_->HasBytes()) return false;
  ReadPipe();
  if (IsUp()) shared_->RingIfPeerWaits();
  return true;
}

void StreamConnection::ReadPipe() {
  if (state_ != State::kOpen || !IsPiped()) return;
  if (const Status status = shared_->Read(); !status.ok()) Fail(status.WithContext("from " + peer_));
}

void StreamConnection::Adopt(Socket socket, const std::string& peer) {
  peer_ = peer;
  socket_.Adopt(std::move(socket));
  if (socket_.over_unix()) (void)OfferShared();
  state_ = State::kOpen;
  socket_.WaitReadable();
}

void StreamConnection::SetLimits(const FrameLimits& limits) {
  socket_.SetLimits(limits);
  if (shared_) shared_->SetLimits(limits);
}

std::uint64_t StreamConnection::QueuedBytes() const {
  return socket_.queue().bytes() + (shared_ ? shared_->QueuedBytes() : 0);
}

std::string_view StreamConnection::carrier() const {
  if (state_ != State::kOpen) return "";
  if (!socket_.over_unix()) return "tcp";
  return IsPiped() ? "local" : "uds";
}

void StreamConnection::OnReadable() {
  if (!IsUp()) return;
  if (lingering_ && state_ == State::kOpen) {
    const std::optional<std::size_t> discarded = socket_.Discard();
    if (!discarded) return Fail(Status::Ok());
    // A bell may be among the bytes, and queued frames are still sent.
    if (*discarded > 0 && IsPiped() && shared_->OnBell()) FlushAtTurnEnd();
    return socket_.WaitReadable();
  }
  OnReadEnd(socket_.Read());
  // If a frame has made the connection linger, it discards unread bytes from now on.
  if (IsUp()) socket_.WaitReadable();
}

void StreamConnection::OnReadEnd(const SocketConnection::ReadResult& read) {
  using ReadEnd = SocketConnection::ReadEnd;
  if (read.end == ReadEnd::kWait || (read.end == ReadEnd::kDrained && failure_.ok())) return;
  if (read.end == ReadEnd::kBadBytes) {
    return state_ == State::kGreeting ? GiveUpGreeting(read.status)
                                      : Fail(read.status.WithContext("from " + peer_));
  }
  if (read.end == ReadEnd::kClosed && state_ == State::kGreeting)
    return GiveUpGreeting(Unavailable("it closed the connection"));
  ReadPipe();
  if (!IsUp()) return;
  if (read.end == ReadEnd::kDrained) return Fail(failure_);
  if (lingering_) return;
  const bool whole = socket_.AtFrameBoundary() && (!IsPiped() || shared_->AtFrameBoundary());
  const char* const where = whole ? "" : " in the middle of a frame";
  if (read.error == 0) {
    Fail(Unavailable("{} closed the connection{}", peer_, where));
  } else {
    Fail(Unavailable("lost the connection to {}{}: {}", peer_, where, ErrnoText(read.error)));
  }
}

void StreamConnection::OnWritable() {
  if (state_ == State::kConnecting) return OnConnectReady();
  Flush();
}

// The peer may have said why it closes: its last frames are read first, then the end is reported.
void StreamConnection::OnSendFailed(int error) {
  failure_ = Unavailable("lost the connection to {} while sending: {}", peer_, ErrnoText(error));
  ClearQueues();
  owner_.RunLater(context_.id, lingering_ ? &StreamConnection::FailPending : &StreamConnection::OnReadable);
}

void StreamConnection::Send(std::uint8_t kind, std::span<const std::byte> body,
                            std::span<const Pinned> payload, const FrameOrder& order) {
  if (state_ == State::kEnded || lingering_ || (state_ == State::kOpen && !failure_.ok())) return;
  const bool piped = IsPiped();
  if (piped) {
    shared_->Send(kind, body, payload);
  } else {
    socket_.Send(kind, body, payload, order);
  }
  if (Status status = CheckQueues(); !status.ok()) {
    failure_ = std::move(status);
    ClearQueues();
    owner_.RunLater(context_.id, &StreamConnection::FailPending);
    return;
  }
  if (state_ != State::kOpen || IsWaiting()) return;
  FlushAtTurnEnd();
  // Enough for a wake-up of its own: the peer works on it while this turn goes on.
  const bool enough =
      queue().copied_bytes() >= context_.options.turn_copied_bytes_max || (piped && shared_->HasEnough());
  if (enough && queue().pinned_bytes() == 0) Flush();
}

void StreamConnection::FlushAtTurnEnd() {
  if (!std::exchange(flush_wanted_, true)) owner_.FlushAtTurnEnd(context_.id);
}

Status StreamConnection::CheckQueues() const {
  if (IsPiped()) LW_RETURN_IF_ERROR(shared_->CheckPinned(peer_));
  if (!IsOverLimit(queue(), context_.options)) return Status::Ok();
  // The end of this turn will be the first to offer it to the kernel.
  if (state_ == State::kOpen && !IsWaiting() && !socket_.waiting()) return Status::Ok();
  const TimePoint progress =
      IsPiped() ? std::max(socket_.last_progress(), shared_->last_progress()) : socket_.last_progress();
  return CheckStall(peer_, queue(), context_.loop.TurnTime() - progress, context_.options);
}

void StreamConnection::Flush() {
  flush_wanted_ = false;
  if (state_ != State::kOpen) return;
  if (!IsPiped()) {
    socket_.Flush();
  } else if (shared_->Flush()) {
    owner_.RunLater(context_.id, &StreamConnection::Flush);
  }
  // Close comes later: with unread bytes in the socket the kernel would reset the connection, and the peer
  // could lose bytes that it has not read.
  if (lingering_ && queue().empty() && socket_.queue().empty()) socket_.ShutDownSending();
}

void StreamConnection::Linger() {
  if (lingering_) return;
  lingering_ = true;
  linger_timer_ = context_.timers.After(context_.options.linger_max, [this] { FailPending(); });
  if (state_ != State::kOpen) return;
  StopReading();
  if (!failure_.ok()) owner_.RunLater(context_.id, &StreamConnection::FailPending);
  if (!IsWaiting()) FlushAtTurnEnd();
}

void StreamConnection::Abandon() {
  state_ = State::kEnded;
  StopReading();
  ClearQueues();
  owner_.Retire(context_.id);
}

void StreamConnection::StopReading() {
  socket_.StopReading();
  if (shared_) shared_->StopReading();
}

void StreamConnection::ClearQueues() {
  socket_.ClearQueue();
  if (shared_) shared_->ClearQueue();
}

void StreamConnection::Fail(const Status& why) {
  if (state_ == State::kEnded) return;
  Abandon();
  if (!lingering_) context_.events.OnClosed(context_.id, why);
}

void StreamConnection::FailPending() { Fail(failure_); }

}  // namespace leeway
