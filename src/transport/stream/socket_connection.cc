#include "transport/stream/socket_connection.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/errors.h"

namespace leeway {
namespace {

constexpr std::size_t kDescriptorsPerCall = 16;
using ControlBytes = std::array<char, CMSG_SPACE(kDescriptorsPerCall * sizeof(int))>;

}  // namespace

SocketConnection::SocketConnection(const ConnectionContext& context, Events& events)
    : context_(context), events_(events), queue_(context.options.copy_bytes_max) {}

Result<int> SocketConnection::Connect(const SocketAddress& to) {
  LW_ASSIGN_OR_RETURN(Socket socket, Socket::Open(to.family()));
  Take(std::move(socket));
  over_unix_ = to.IsUnix();
  if (connect(socket_.fd(), to.raw(), to.raw_bytes()) != 0 && errno != EINPROGRESS) return errno;
  Watch();
  return 0;
}

void SocketConnection::Adopt(Socket socket) {
  Take(std::move(socket));
  over_unix_ = SocketAddress::OfSocket(socket_.fd()).IsUnix();
  Watch();
}

void SocketConnection::Take(Socket socket) {
  watch_.reset();
  socket_ = std::move(socket);
  socket_.Tune();
  ahead_ = SendAhead();
  reader_.emplace(static_cast<wire::FrameSink&>(*this), context_.options.staging_bytes);
  SetCarriers(FrameLimits::Carriers::kStream);
}

void SocketConnection::Watch() {
  ApplyAhead();
  watch_.emplace(
      context_.loop, socket_.fd(), [this] { events_.OnReadable(); },
      [this] {
        waiting_ = false;
        AdaptAhead();
        events_.OnWritable();
      });
}

void SocketConnection::AdaptAhead() {
  const TimePoint now = context_.loop.TurnTime();
  if (over_unix_ || !ahead_.MayLook(now)) return;
  const std::uint64_t rate = socket_.DeliveryRate();
  if (rate > 0 && ahead_.OnRate(rate, now)) ApplyAhead();
}

void SocketConnection::ApplyAhead() {
  queue_.SetAhead(ahead_.bytes());
  if (!over_unix_) socket_.LimitUnsent(ahead_.bytes());
}

int SocketConnection::ConnectError() const {
  int error = 0;
  socklen_t bytes = sizeof(error);
  getsockopt(socket_.fd(), SOL_SOCKET, SO_ERROR, &error, &bytes);
  // A connect to a free port of the range that connects are made from can meet itself and succeed.
  const bool itself = error == 0 && !over_unix_ &&
                      SocketAddress::OfSocket(socket_.fd()) == SocketAddress::OfPeer(socket_.fd());
  return itself ? ECONNREFUSED : error;
}

void SocketConnection::SetLimits(const FrameLimits& limits) {
  const FrameLimits::Carriers carriers = limits_.carriers;
  limits_ = limits;
  SetCarriers(carriers);
}

void SocketConnection::SetCarriers(FrameLimits::Carriers carriers) {
  limits_.carriers = carriers;
  if (reader_) reader_->SetLimits(limits_);
}

Result<Landing> SocketConnection::OnFrameStart(const FrameHead& head, std::span<const std::byte> body) {
  if (CarriesMore()) LW_RETURN_IF_ERROR(events_.CheckFrame());
  return context_.events.OnFrameStart(context_.id, head, body);
}

void SocketConnection::OnFrame(const FrameHead& head, std::span<const std::byte> body, Landing&& landing) {
  context_.events.OnFrame(context_.id, head, body, std::move(landing));
}

Status SocketConnection::OnCarried(const FrameHead& head, std::span<const std::byte> body) {
  return events_.OnCarried(head, body);
}

SocketConnection::ReadResult SocketConnection::Read() {
  for (std::size_t read = 0; read < context_.options.turn_read_bytes_max;) {
    const std::span<std::byte> space = reader_->Space();
    const ssize_t n = ReceiveInto(space);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && IsWouldBlock(errno)) return {.end = ReadEnd::kDrained, .status = {}};
    if (n <= 0) return {.end = ReadEnd::kClosed, .status = {}, .error = n < 0 ? errno : 0};
    const auto received = static_cast<std::size_t>(n);
    last_received_ = context_.loop.TurnTime();
    if (CarriesMore()) events_.OnBytes();
    Status status = reader_->Commit(received);
    if (!reading_) break;
    if (!status.ok()) return {.end = ReadEnd::kBadBytes, .status = std::move(status)};
    // A short read has emptied the kernel's buffer; waiting tells of what came since.
    if (received < space.size()) break;
    read += received;
  }
  return {};
}

std::optional<std::size_t> SocketConnection::Discard() {
  std::array<std::byte, 64 * 1024> nowhere;
  std::size_t discarded = 0;
  while (discarded < context_.options.turn_read_bytes_max) {
    const ssize_t n = recv(socket_.fd(), nowhere.data(), nowhere.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && IsWouldBlock(errno)) break;
    if (n <= 0) return std::nullopt;
    discarded += static_cast<std::size_t>(n);
  }
  return discarded;
}

// To the end: the system ends a read after each descriptor.
Status SocketConnection::ReadNotes() {
  for (std::size_t read = 0; read < context_.options.turn_read_bytes_max;) {
    const ssize_t n = ReceiveInto(reader_->Space());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;  // Read finds the end of the connection
    LW_RETURN_IF_ERROR(reader_->Commit(static_cast<std::size_t>(n)));
    read += static_cast<std::size_t>(n);
  }
  return Status::Ok();
}

void SocketConnection::Send(std::uint8_t kind, std::span<const std::byte> body,
                            std::span<const Pinned> payload, const FrameOrder& order) {
  if (queue_.empty()) last_progress_ = context_.loop.TurnTime();
  queue_.Push(kind, body, payload, order);
}

void SocketConnection::PushNote(NoteKind kind, std::span<const std::byte> body, int fd) {
  queue_.PushNote(static_cast<std::uint8_t>(kind), body, fd);
}

SendQueue SocketConnection::TakeQueue() {
  return std::exchange(queue_, SendQueue(context_.options.copy_bytes_max));
}

bool SocketConnection::WriteNote(NoteKind kind, std::span<const std::byte> body, int fd) {
  SendQueue bytes(context_.options.copy_bytes_max);
  bytes.PushNote(static_cast<std::uint8_t>(kind), body, fd);
  std::array<iovec, 1> piece;
  return bytes.Gather(piece, bytes.bytes()) == 1 &&
         SendPieces(piece, bytes.Descriptor()) == static_cast<ssize_t>(bytes.bytes());
}

bool SocketConnection::Flush() {
  if (waiting_) return false;
  std::size_t written = 0;
  while (!queue_.empty() && written < context_.options.turn_write_bytes_max) {
    std::array<iovec, kSendPiecesMax> pieces;
    const std::size_t used = queue_.Gather(pieces, context_.options.write_bytes_max);
    const ssize_t n = SendPieces(std::span(pieces).first(used), queue_.Descriptor());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && IsWouldBlock(errno)) break;
    if (n < 0) {
      events_.OnSendFailed(errno);
      return false;
    }
    written += static_cast<std::size_t>(n);
    queue_.Consume(static_cast<std::size_t>(n));
  }
  if (queue_.empty()) return true;
  // Not the time of the turn, at whose end this is: it may have been a long one.
  if (written > 0) last_progress_ = EventLoop::Now();
  waiting_ = true;
  watch_->WaitWritable();
  return false;
}

void SocketConnection::ShutDownSending() const { shutdown(socket_.fd(), SHUT_WR); }

ssize_t SocketConnection::ReceiveInto(std::span<std::byte> space) {
  if (!CarriesMore()) return recv(socket_.fd(), space.data(), space.size(), 0);
  iovec piece{.iov_base = space.data(), .iov_len = space.size()};
  alignas(cmsghdr) ControlBytes control;
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t n = recvmsg(socket_.fd(), &message, MSG_CMSG_CLOEXEC);
  if (n < 0) return n;
  if ((message.msg_flags & MSG_CTRUNC) != 0) events_.OnDescriptorsLost(kDescriptorsPerCall);
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      events_.OnDescriptor(Descriptor(fd));
    }
  }
  return n;
}

ssize_t SocketConnection::SendPieces(std::span<iovec> pieces, int descriptor) const {
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
