#include "transport/stream/socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/errors.h"

namespace leeway {

Socket::~Socket() {
  if (fd_ >= 0) close(fd_);
}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Result<Socket> Socket::Open(int family) {
  const int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return ResourceExhausted("cannot open a socket: {}", ErrnoText(errno));
  return Socket(fd);
}

void Socket::Tune(int notsent_lowat_bytes) const {
  // Fails on a Unix socket, which needs neither.
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  setsockopt(fd_, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &notsent_lowat_bytes, sizeof(notsent_lowat_bytes));
}

Socket::Process Socket::PeerProcess() const {
  ucred peer{};
  socklen_t bytes = sizeof(peer);
  if (getsockopt(fd_, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return {};
  return {peer.pid, peer.uid == geteuid() || peer.uid == 0};
}

bool IsWouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

std::string ErrnoText(int error) { return std::generic_category().message(error); }

}  // namespace leeway
