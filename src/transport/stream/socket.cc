#include "transport/stream/socket.h"

#include <linux/tcp.h>  // its tcp_info has more than that of netinet/tcp.h
#include <netinet/in.h>
#include <unistd.h>

#include <cerrno>

#include "base/errors.h"

namespace leeway {

Result<Socket> Socket::Open(int family) {
  const int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return ResourceExhausted("cannot open a socket: {}", ErrnoText(errno));
  return Socket(fd);
}

void Socket::Tune() const {
  // Fails on a Unix socket, which does not need it.
  const int on = 1;
  setsockopt(fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

void Socket::LimitUnsent(std::uint64_t bytes) const {
  const auto limit = static_cast<int>(bytes);
  setsockopt(fd(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &limit, sizeof(limit));
}

std::uint64_t Socket::DeliveryRate() const {
  tcp_info info{};
  socklen_t bytes = sizeof(info);
  if (getsockopt(fd(), IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0) return 0;
  return info.tcpi_delivery_rate;
}

Socket::Process Socket::PeerProcess() const {
  ucred peer{};
  socklen_t bytes = sizeof(peer);
  if (getsockopt(fd(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return {};
  return {peer.pid, peer.uid == geteuid() || peer.uid == 0};
}

bool IsWouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace leeway
