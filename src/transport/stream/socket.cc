#include "transport/stream/socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <cerrno>

#include "base/errors.h"

namespace leeway {

Result<Socket> Socket::Open(int family) {
  const int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return ResourceExhausted("cannot open a socket: {}", ErrnoText(errno));
  return Socket(fd);
}

void Socket::Tune(int notsent_lowat_bytes) const {
  // Fails on a Unix socket, which needs neither.
  const int on = 1;
  setsockopt(fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  setsockopt(fd(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &notsent_lowat_bytes, sizeof(notsent_lowat_bytes));
}

Socket::Process Socket::PeerProcess() const {
  ucred peer{};
  socklen_t bytes = sizeof(peer);
  if (getsockopt(fd(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return {};
  return {peer.pid, peer.uid == geteuid() || peer.uid == 0};
}

bool IsWouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace leeway
