#include "transport/stream/stream_connection.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/errors.h"

namespace leeway {
namespace {

Status ConnectError(const std::string& peer, int error) {
  if (error == ECONNREFUSED) {
    return Unavailable("cannot connect to {}: connection refused (nobody listens there)", peer);
  }
  return Unavailable("cannot connect to {}: {}", peer, ErrnoText(error));
}

}  // namespace

StreamConnection::StreamConnection(EventLoop& loop, Owner& owner, const StreamOptions& options,
                                   ConnectionId id, TransportEvents& events)
    : loop_(loop),
      owner_(owner),
      options_(options),
      id_(id),
      events_(events),
      queue_(options.copy_bytes_max),
      beside_(options.copy_bytes_max) {}

StreamConnection::~StreamConnection() {
  owner_.CancelTimer(linger_timer_);
  owner_.CancelTimer(greeting_timer_);
  owner_.CancelTimer(collect_timer_);
}

void StreamConnection::Connect(const std::string& address) {
  peer_ = address;
  if (IsLocal(address)) return ConnectLocal(address);
  const Result<Endpoint> endpoint = Endpoint::Parse(address);
  if (!endpoint.ok()) {
    failure_ = endpoint.status().WithContext("cannot connect");
    owner_.RunLater(id_, &StreamConnection::FailPending);
    return;
  }
  AddCandidates(NumericAddresses(*endpoint));
  if (!candidates_.empty()) {
    TryNextCandidate();
    return;
  }
  owner_.ResolveFor(id_, *endpoint);
}

void StreamConnection::ConnectLocal(const std::string& address) {
  const Result<std::string> name = ParseLocal(address);
  if (!name.ok()) {
    failure_ = name.status().WithContext("cannot connect");
  } else if (name->empty()) {
    failure_ = InvalidArgument("cannot connect to {}: it has no name, wanted {}NAME", address, kLocalPrefix);
  } else if (options_.carrier == Carrier::kTcp) {
    failure_ = Unavailable("cannot connect to {}: it is a Unix socket, and the transport is tcp", address);
  } else {
    candidates_.push_back(SocketAddress::Local(*name));
  }
  TryNextCandidate();
}

void StreamConnection::AddCandidates(const std::vector<SocketAddress>& tcp) {
  const Carrier carrier = options_.carrier;
  if (carrier == Carrier::kAuto || carrier == Carrier::kTcp) candidates_.assign(tcp.rbegin(), tcp.rend());
  if (carrier == Carrier::kTcp) return;
  // Whoever listens there on this host is found by a name; who does not is refused at once.
  for (auto address = tcp.rbegin(); address != tcp.rend(); ++address) {
    if (!address->IsOwn()) continue;
    for (const SocketAddress& all : address->Wildcards()) candidates_.push_back(SocketAddress::LocalOf(all));
    candidates_.push_back(SocketAddress::LocalOf(*address));
  }
  if (candidates_.empty() && !tcp.empty()) {
    failure_ = Unavailable("cannot connect to {}: it is on another host, and the transport is {}", peer_,
                           carrier == Carrier::kUds ? "uds" : "local");
  }
}

void StreamConnection::OnResolved(Result<std::vector<SocketAddress>> found) {
  if (!found.ok()) return Fail(found.status().WithContext("cannot connect to " + peer_));
  failure_ = Unavailable("cannot connect to {}: the host has no address", peer_);
  AddCandidates(*found);
  TryNextCandidate();
}

// Called from Connect itself too, so that whatever fails here is reported later.
void StreamConnection::TryNextCandidate() {
  watch_.reset();
  while (!candidates_.empty()) {
    const SocketAddress to = candidates_.back();
    candidates_.pop_back();
    Result<Socket> socket = Socket::Open(to.family());
    if (!socket.ok()) {
      failure_ = socket.status();
      continue;
    }
    socket_ = *std::move(socket);
    socket_.Tune(options_.notsent_lowat_bytes);
    over_unix_ = to.IsUnix();
    exchange_.reset();
    reader_.emplace(static_cast<wire::FrameSink&>(*this), options_.staging_bytes);
    if (connect(socket_.fd(), to.raw(), to.raw_bytes()) == 0 || errno == EINPROGRESS) {
      WatchSocket();
      // Over a Unix socket it is up at once.
      if (over_unix_) {
        owner_.RunLater(id_, &StreamConnection::OnConnectReady);
      } else {
        watch_->WaitWritable();
      }
      return;
    }
    // That nobody listens at the Unix socket says less than what TCP answers.
    if (!to.IsUnix() || failure_.ok()) failure_ = ConnectError(peer_, errno);
  }
  owner_.RunLater(id_, &StreamConnection::FailPending);
}

void StreamConnection::OnConnectReady() {
  int error = 0;
  socklen_t bytes = sizeof(error);
  getsockopt(socket_.fd(), SOL_SOCKET, SO_ERROR, &error, &bytes);
  // A connect to a free port of the range that connects are made from can meet itself and succeed.
  if (error == 0 && !over_unix_ &&
      SocketAddress::OfSocket(socket_.fd()) == SocketAddress::OfPeer(socket_.fd()))
    error = ECONNREFUSED;
  if (error != 0) {
    failure_ = ConnectError(peer_, error);
    TryNextCandidate();
    return;
  }
  // An abstract name belongs to whoever took it first.
  if (over_unix_ && !socket_.PeerProcess().same_user)
    return GiveUpGreeting(FailedPrecondition("another user listens at its Unix socket"));
  failure_ = Status::Ok();
  SetLimits(limits_);
  watch_->WaitReadable();
  if (over_unix_ && options_.carrier != Carrier::kUds) return BeginGreeting();
  OnUp();
}

void StreamConnection::OnUp() {
  state_ = State::kOpen;
  if (exchange_ != nullptr) BeginPipe();
  if (!lingering_) events_.OnConnected(id_);
  if (state_ != State::kOpen) return;
  if (lingering_ && queue_.empty()) return FinishLinger();
  if (!queue_.empty()) Flush();
}

void StreamConnection::Adopt(Socket socket, const std::string& peer) {
  peer_ = peer;
  socket_ = std::move(socket);
  socket_.Tune(options_.notsent_lowat_bytes);
  over_unix_ = SocketAddress::OfSocket(socket_.fd()).IsUnix();
  if (over_unix_) exchange_ = owner_.MakeExchange();
  reader_.emplace(static_cast<wire::FrameSink&>(*this), options_.staging_bytes);
  SetLimits(limits_);
  state_ = State::kOpen;
  WatchSocket();
  watch_->WaitReadable();
}

void StreamConnection::WatchSocket() {
  watch_.emplace(
      loop_, socket_.fd(), [this] { OnReadable(); }, [this] { OnWritable(); });
}

void StreamConnection::SetLimits(const FrameLimits& limits) {
  using Carriers = FrameLimits::Carriers;
  limits_ = limits;
  const auto with = [this](Carriers carriers) {
    FrameLimits of_reader = limits_;
    of_reader.carriers = carriers;
    return of_reader;
  };
  if (pipe_reader_) pipe_reader_->SetLimits(with(Carriers::kStreamAndShared));
  if (!reader_) return;
  const Carriers beside = exchange_ != nullptr ? Carriers::kAll : Carriers::kStream;
  reader_->SetLimits(with(pipe_ != nullptr ? Carriers::kNotes : beside));
}

std::uint64_t StreamConnection::QueuedBytes() const {
  return queue_.bytes() + beside_.bytes() + (exchange_ != nullptr ? exchange_->pinned_bytes() : 0);
}

std::string_view StreamConnection::carrier() const {
  if (state_ != State::kOpen) return "";
  if (!over_unix_) return "tcp";
  return exchange_ != nullptr && exchange_->ready() ? "local" : "uds";
}

Result<Landing> StreamConnection::OnFrameStart(const FrameHead& head, std::span<const std::byte> body) {
  if (exchange_ != nullptr) LW_RETURN_IF_ERROR(exchange_->broken());
  return events_.OnFrameStart(id_, head, body);
}

void StreamConnection::OnFrame(const FrameHead& head, std::span<const std::byte> body, Landing&& landing) {
  events_.OnFrame(id_, head, body, std::move(landing));
}

void StreamConnection::OnReadable() {
  if (!IsUp()) return;
  if (lingering_ && state_ == State::kOpen) return Discard();
  turn_read_bytes_ = 0;
  while (Receive()) {
  }
  if (!IsUp()) return;
  // Closed from inside a frame with something left to send: what is unread is thrown away from now on.
  watch_->WaitReadable();
}

bool StreamConnection::Receive() {
  const std::span<std::byte> space = reader_->Space();
  const ssize_t n = ReceiveInto(space);
  if (n > 0) {
    const auto received = static_cast<std::size_t>(n);
    last_received_ = loop_.TurnTime();
    // Now, since the peer is done with a payload before it says what became of it: whoever reads that here
    // must find its memory free.
    CollectShared();
    const Status status = reader_->Commit(received);
    if (!KeepReading()) return false;
    if (!status.ok() && state_ == State::kGreeting) {
      GiveUpGreeting(status);
      return false;
    }
    if (!status.ok()) {
      Fail(status.WithContext("from " + peer_));
      return false;
    }
    turn_read_bytes_ += received;
    // A short read has emptied the kernel's buffer; waiting tells of what came since.
    return received == space.size() && turn_read_bytes_ < options_.turn_read_bytes_max;
  }
  if (n < 0 && errno == EINTR) return true;
  if (n < 0 && IsWouldBlock(errno)) {
    if (failure_.ok()) return false;
    ReadPipe();
    if (IsUp()) Fail(failure_);
    return false;
  }
  if (state_ == State::kGreeting) {
    GiveUpGreeting(Unavailable("it closed the connection"));
    return false;
  }
  const int error = n < 0 ? errno : 0;
  ReadPipe();
  if (!KeepReading()) return false;
  const bool whole = reader_->AtBoundary() && (!pipe_reader_ || pipe_reader_->AtBoundary());
  const char* const where = whole ? "" : " in the middle of a frame";
  if (error == 0) {
    Fail(Unavailable("{} closed the connection{}", peer_, where));
  } else {
    Fail(Unavailable("lost the connection to {}{}: {}", peer_, where, ErrnoText(error)));
  }
  return false;
}

void StreamConnection::OnWritable() {
  if (state_ == State::kConnecting) return OnConnectReady();
  (pipe_ != nullptr ? beside_waiting_ : write_waiting_) = false;
  Flush();
}

// The peer may have said why it closes before it did: what it sent is read first, then the end is reported.
void StreamConnection::BreakSending(int error) {
  failure_ = Unavailable("lost the connection to {} while sending: {}", peer_, ErrnoText(error));
  queue_.Clear();
  beside_.Clear();
  owner_.RunLater(id_, lingering_ ? &StreamConnection::FailPending : &StreamConnection::OnReadable);
}

void StreamConnection::Linger() {
  lingering_ = true;
  linger_timer_ = owner_.RunAfter(options_.linger_max, id_, &StreamConnection::LingerTooLong);
  if (!failure_.ok() && state_ == State::kOpen) owner_.RunLater(id_, &StreamConnection::FailPending);
  if (state_ != State::kOpen || write_waiting_) return;
  if (!std::exchange(flush_wanted_, true)) owner_.FlushAtTurnEnd(id_);
}

// All is sent. The socket is not closed yet: with unread bytes in it the kernel would reset the connection,
// and the peer could lose what it has not read.
void StreamConnection::FinishLinger() { shutdown(socket_.fd(), SHUT_WR); }

void StreamConnection::Discard() {
  std::array<std::byte, 64 * 1024> nowhere;
  std::size_t discarded = 0;
  while (discarded < options_.turn_read_bytes_max) {
    const ssize_t n = recv(socket_.fd(), nowhere.data(), nowhere.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && IsWouldBlock(errno)) break;
    if (n <= 0) return Fail(Status::Ok());
    discarded += static_cast<std::size_t>(n);
  }
  if (pipe_ != nullptr && discarded > 0) OnBell();  // it may be one, and what is queued is still sent
  watch_->WaitReadable();
}

void StreamConnection::Abandon() {
  state_ = State::kEnded;
  queue_.Clear();
  beside_.Clear();
  owner_.Retire(id_);
}

void StreamConnection::Fail(const Status& why) {
  if (state_ == State::kEnded) return;
  Abandon();
  if (!lingering_) events_.OnClosed(id_, why);
}

void StreamConnection::FailPending() { Fail(failure_); }

void StreamConnection::LingerTooLong() { Fail(Status::Ok()); }

}  // namespace leeway
