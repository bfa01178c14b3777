#include "transport/stream/stream_listener.h"

#include <sys/socket.h>

#include <cerrno>

#include "base/errors.h"

namespace leeway {
namespace {

constexpr int kBacklog = 1024;
// Accepting is given up for this long when descriptors run out, rather than spinning on a socket that stays
// readable.
constexpr std::chrono::milliseconds kPause{100};
// Connections accepted in one turn.
constexpr int kAcceptsMax = 64;

Result<Socket> BindAndListen(const SocketAddress& at, const std::string& address) {
  LW_ASSIGN_OR_RETURN(Socket socket, Socket::Open(at.family()));
  const int on = 1;
  setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (bind(socket.fd(), at.raw(), at.raw_bytes()) != 0 || listen(socket.fd(), kBacklog) != 0) {
    const int error = errno;
    if (error == EADDRINUSE) {
      return ResourceExhausted(
          "cannot listen at {}: the port is in use; end the process that has it, or give port 0 for any free "
          "one",
          address);
    }
    if (error == EADDRNOTAVAIL)
      return InvalidArgument("cannot listen at {}: it is no address of this host", address);
    return Unavailable("cannot listen at {}: {}", address, ErrnoText(error));
  }
  return socket;
}

}  // namespace

Result<std::unique_ptr<StreamListener>> StreamListener::Listen(EventLoop& loop, Timers& timers,
                                                               RateLimitedLog& log,
                                                               const StreamOptions& options,
                                                               const std::string& address,
                                                               Accepted accepted) {
  LW_ASSIGN_OR_RETURN(const Endpoint endpoint, Endpoint::Parse(address));
  LW_ASSIGN_OR_RETURN(const std::vector<SocketAddress> found, LookUp(endpoint));
  const SocketAddress& at = found.front();
  if (!options.allow_non_loopback && !at.IsLoopback()) {
    return InvalidArgument(
        "will not listen at {}: it is no loopback address, and there is no encryption or "
        "authentication; wanted 127.0.0.1, or --bind-any if the network is trusted",
        address);
  }
  LW_ASSIGN_OR_RETURN(Socket socket, BindAndListen(at, address));
  return std::unique_ptr<StreamListener>(
      new StreamListener(loop, timers, log, std::move(socket), std::move(accepted)));
}

Result<std::unique_ptr<StreamListener>> StreamListener::ListenLocal(EventLoop& loop, Timers& timers,
                                                                    RateLimitedLog& log,
                                                                    const SocketAddress& of,
                                                                    Accepted accepted) {
  const SocketAddress at = SocketAddress::LocalOf(of);
  LW_ASSIGN_OR_RETURN(Socket socket, Socket::Open(AF_UNIX));
  if (bind(socket.fd(), at.raw(), at.raw_bytes()) != 0 || listen(socket.fd(), kBacklog) != 0) {
    return Unavailable("cannot listen at the Unix socket of {}: {}", of.ToString(), ErrnoText(errno));
  }
  return std::unique_ptr<StreamListener>(
      new StreamListener(loop, timers, log, std::move(socket), std::move(accepted)));
}

StreamListener::StreamListener(EventLoop& loop, Timers& timers, RateLimitedLog& log, Socket socket,
                               Accepted accepted)
    : timers_(timers),
      log_(log),
      socket_(std::move(socket)),
      accepted_(std::move(accepted)),
      watch_(
          loop, socket_.fd(), [this] { OnReadable(); }, [] {}) {
  watch_.WaitReadable();
}

StreamListener::~StreamListener() { timers_.Cancel(pause_); }

SocketAddress StreamListener::address() const { return SocketAddress::OfSocket(socket_.fd()); }

void StreamListener::Accept(Socket socket, const SocketAddress& from) {
  if (!from.IsUnix()) return accepted_(std::move(socket), from.ToString());
  const Socket::Process peer = socket.PeerProcess();
  // Of another user: it may come over TCP, and is a stranger there.
  if (peer.same_user) accepted_(std::move(socket), fmt::format("process {}", peer.pid));
}

void StreamListener::OnReadable() {
  for (int i = 0; i < kAcceptsMax; ++i) {
    sockaddr_storage raw{};
    socklen_t bytes = sizeof(raw);
    const int fd =
        accept4(socket_.fd(), reinterpret_cast<sockaddr*>(&raw), &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      Accept(Socket(fd), SocketAddress::FromRaw(reinterpret_cast<sockaddr*>(&raw), bytes));
      continue;
    }
    const int error = errno;
    if (error == EAGAIN) break;
    if (error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM) {
      log_.Warn(fmt::format("cannot accept at {}: {}; trying again", address().ToString(), ErrnoText(error)));
      pause_ = timers_.After(kPause, [this] { watch_.WaitReadable(); });
      return;
    }
    // Anything else (ECONNABORTED, EINTR, network errors of the new socket) is over with that one connection.
  }
  watch_.WaitReadable();
}

}  // namespace leeway
