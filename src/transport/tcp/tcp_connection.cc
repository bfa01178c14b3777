#include "transport/tcp/tcp_connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/errors.h"

namespace leeway {
namespace {

// Pieces in one sendmsg. Beyond some dozens nothing is gained, and the array is on the stack.
constexpr std::size_t kPiecesMax = 64;

bool WouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

Status ConnectError(const std::string& peer, int error) {
  if (error == ECONNREFUSED) {
    return Unavailable("cannot connect to {}: connection refused (nobody listens there)", peer);
  }
  return Unavailable("cannot connect to {}: {}", peer, ErrnoText(error));
}

}  // namespace

TcpConnection::TcpConnection(EventLoop& loop, Owner& owner, const TcpOptions& options, ConnectionId id,
                             TransportEvents& events)
    : loop_(loop),
      owner_(owner),
      options_(options),
      id_(id),
      events_(events),
      queue_(options.copy_bytes_max),
      reader_(*this, options.staging_bytes) {}

TcpConnection::~TcpConnection() { owner_.CancelTimer(linger_timer_); }

void TcpConnection::Connect(const std::string& address) {
  peer_ = address;
  const Result<Endpoint> endpoint = Endpoint::Parse(address);
  if (!endpoint.ok()) {
    failure_ = endpoint.status().WithContext("cannot connect");
    owner_.RunLater(id_, &TcpConnection::FailPending);
    return;
  }
  candidates_ = NumericAddresses(*endpoint);
  if (!candidates_.empty()) {
    TryNextCandidate();
    return;
  }
  owner_.ResolveFor(id_, *endpoint);
}

void TcpConnection::OnResolved(Result<std::vector<SocketAddress>> found) {
  if (!found.ok()) return Fail(found.status().WithContext("cannot connect to " + peer_));
  candidates_ = *std::move(found);
  std::reverse(candidates_.begin(), candidates_.end());
  failure_ = Unavailable("cannot connect to {}: the host has no address", peer_);
  TryNextCandidate();
}

// Called from Connect itself too, so that whatever fails here is reported later.
void TcpConnection::TryNextCandidate() {
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
    if (connect(socket_.fd(), to.raw(), to.raw_bytes()) == 0 || errno == EINPROGRESS) {
      watch_.emplace(
          loop_, socket_.fd(), [this] { OnReadable(); }, [this] { OnWritable(); });
      watch_->WaitWritable();
      return;
    }
    failure_ = ConnectError(peer_, errno);
  }
  owner_.RunLater(id_, &TcpConnection::FailPending);
}

void TcpConnection::OnConnectReady() {
  int error = 0;
  socklen_t bytes = sizeof(error);
  getsockopt(socket_.fd(), SOL_SOCKET, SO_ERROR, &error, &bytes);
  // A connect to a free port of the range that connects are made from can meet itself and succeed.
  if (error == 0 && SocketAddress::OfSocket(socket_.fd()) == SocketAddress::OfPeer(socket_.fd()))
    error = ECONNREFUSED;
  if (error != 0) {
    failure_ = ConnectError(peer_, error);
    TryNextCandidate();
    return;
  }
  failure_ = Status::Ok();
  state_ = State::kOpen;
  watch_->WaitReadable();
  if (!lingering_) events_.OnConnected(id_);
  if (state_ != State::kOpen) return;
  if (lingering_ && queue_.empty()) return FinishLinger();
  if (!queue_.empty()) Flush();
}

void TcpConnection::Adopt(Socket socket, const std::string& peer) {
  peer_ = peer;
  socket_ = std::move(socket);
  socket_.Tune(options_.notsent_lowat_bytes);
  state_ = State::kOpen;
  watch_.emplace(
      loop_, socket_.fd(), [this] { OnReadable(); }, [this] { OnWritable(); });
  watch_->WaitReadable();
}

Result<Landing> TcpConnection::OnFrameStart(const FrameHead& head, std::span<const std::byte> body) {
  return events_.OnFrameStart(id_, head, body);
}

void TcpConnection::OnFrame(const FrameHead& head, std::span<const std::byte> body, Landing landing) {
  events_.OnFrame(id_, head, body, std::move(landing));
}

void TcpConnection::OnReadable() {
  if (state_ != State::kOpen) return;
  if (lingering_) return Discard();
  turn_read_bytes_ = 0;
  while (Receive()) {
  }
  if (state_ != State::kOpen) return;
  // Closed from inside a frame with something left to send: what is unread is thrown away from now on.
  watch_->WaitReadable();
}

bool TcpConnection::Receive() {
  const std::span<std::byte> space = reader_.Space();
  const ssize_t n = recv(socket_.fd(), space.data(), space.size(), 0);
  if (n > 0) {
    const auto received = static_cast<std::size_t>(n);
    last_received_ = EventLoop::Now();
    const Status status = reader_.Commit(received);
    if (!KeepReading()) return false;
    if (!status.ok()) {
      Fail(status.WithContext("from " + peer_));
      return false;
    }
    turn_read_bytes_ += received;
    // A short read has emptied the kernel's buffer; waiting tells of what came since.
    return received == space.size() && turn_read_bytes_ < options_.turn_read_bytes_max;
  }
  if (n < 0 && errno == EINTR) return true;
  if (n < 0 && WouldBlock(errno)) {
    if (!failure_.ok()) Fail(failure_);
    return false;
  }
  const char* const where = reader_.AtBoundary() ? "" : " in the middle of a frame";
  if (n == 0) {
    Fail(Unavailable("{} closed the connection{}", peer_, where));
  } else {
    Fail(Unavailable("lost the connection to {}{}: {}", peer_, where, ErrnoText(errno)));
  }
  return false;
}

void TcpConnection::Send(std::uint8_t kind, std::span<const std::byte> body,
                         std::span<const Pinned> payload) {
  if (state_ == State::kEnded || lingering_ || (state_ == State::kOpen && !failure_.ok())) return;
  if (queue_.empty()) last_progress_ = EventLoop::Now();
  queue_.Push(kind, body, payload);
  if (Status status = WhyQueueIsTooLong(); !status.ok()) {
    failure_ = std::move(status);
    queue_.Clear();
    owner_.RunLater(id_, &TcpConnection::FailPending);
    return;
  }
  if (state_ == State::kOpen && !write_waiting_ && !std::exchange(flush_wanted_, true))
    owner_.FlushAtTurnEnd(id_);
}

Status TcpConnection::WhyQueueIsTooLong() const {
  if (queue_.frames() <= options_.queue_frames_max &&
      queue_.copied_bytes() <= options_.queue_copied_bytes_max &&
      queue_.pinned_bytes() <= options_.queue_pinned_bytes_max) {
    return Status::Ok();
  }
  // The end of this turn will be the first to offer it to the kernel.
  if (state_ == State::kOpen && !write_waiting_) return Status::Ok();
  const Duration since = EventLoop::Now() - last_progress_;
  if (since < options_.stall_max) return Status::Ok();
  return ResourceExhausted(
      "{} does not read what is sent to it: {} frames, {} copied and {} pinned bytes are queued and none has "
      "left for {} ms; "
      "at most {} frames, {} copied and {} pinned bytes may wait",
      peer_, queue_.frames(), queue_.copied_bytes(), queue_.pinned_bytes(),
      std::chrono::duration_cast<std::chrono::milliseconds>(since).count(), options_.queue_frames_max,
      options_.queue_copied_bytes_max, options_.queue_pinned_bytes_max);
}

void TcpConnection::Flush() {
  flush_wanted_ = false;
  if (state_ != State::kOpen || write_waiting_) return;
  std::size_t written = 0;
  while (!queue_.empty() && written < options_.turn_write_bytes_max) {
    std::array<iovec, kPiecesMax> pieces;
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = queue_.Gather(pieces, options_.write_bytes_max);
    const ssize_t n = sendmsg(socket_.fd(), &message, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && WouldBlock(errno)) break;
    if (n < 0) return BreakSending(errno);
    written += static_cast<std::size_t>(n);
    queue_.Consume(static_cast<std::size_t>(n));
  }
  if (written > 0) last_progress_ = EventLoop::Now();
  if (!queue_.empty()) {
    write_waiting_ = true;
    watch_->WaitWritable();
  } else if (lingering_) {
    FinishLinger();
  }
}

void TcpConnection::OnWritable() {
  if (state_ == State::kConnecting) return OnConnectReady();
  write_waiting_ = false;
  Flush();
}

// The peer may have said why it closes before it did: what it sent is read first, then the end is reported.
void TcpConnection::BreakSending(int error) {
  failure_ = Unavailable("lost the connection to {} while sending: {}", peer_, ErrnoText(error));
  queue_.Clear();
  owner_.RunLater(id_, lingering_ ? &TcpConnection::FailPending : &TcpConnection::OnReadable);
}

void TcpConnection::Linger() {
  lingering_ = true;
  linger_timer_ = owner_.RunAfter(options_.linger_max, id_, &TcpConnection::LingerTooLong);
  if (!failure_.ok() && state_ == State::kOpen) owner_.RunLater(id_, &TcpConnection::FailPending);
  if (state_ != State::kOpen || write_waiting_) return;
  if (!std::exchange(flush_wanted_, true)) owner_.FlushAtTurnEnd(id_);
}

// All is sent. The socket is not closed yet: with unread bytes in it the kernel would reset the connection,
// and the peer could lose what it has not read.
void TcpConnection::FinishLinger() { shutdown(socket_.fd(), SHUT_WR); }

void TcpConnection::Discard() {
  std::array<std::byte, 64 * 1024> nowhere;
  std::size_t discarded = 0;
  while (discarded < options_.turn_read_bytes_max) {
    const ssize_t n = recv(socket_.fd(), nowhere.data(), nowhere.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && WouldBlock(errno)) break;
    if (n <= 0) return Fail(Status::Ok());
    discarded += static_cast<std::size_t>(n);
  }
  watch_->WaitReadable();
}

void TcpConnection::Abandon() {
  state_ = State::kEnded;
  queue_.Clear();
  owner_.Retire(id_);
}

void TcpConnection::Fail(const Status& why) {
  if (state_ == State::kEnded) return;
  Abandon();
  if (!lingering_) events_.OnClosed(id_, why);
}

void TcpConnection::FailPending() { Fail(failure_); }

void TcpConnection::LingerTooLong() { Fail(Status::Ok()); }

}  // namespace leeway
