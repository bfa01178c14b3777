#include "raw_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <semaphore>
#include <thread>

namespace leeway::bench {
namespace {

std::uint64_t NowNs() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

void Must(bool ok, const char* what) {
  if (ok) return;
  std::perror(what);
  std::abort();
}

void SendAll(int fd, const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = send(fd, data, bytes, MSG_NOSIGNAL);
    Must(n > 0, "raw send");
    data += n;
    bytes -= static_cast<std::size_t>(n);
  }
}

// False when the peer has closed.
bool ReceiveAll(int fd, char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = recv(fd, data, bytes, MSG_WAITALL);
    if (n <= 0) return false;
    data += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

// On a Unix socket it does nothing.
void NoDelay(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

// An address of either kind, as the system wants it.
struct RawAddress {
  union {
    sockaddr any;
    sockaddr_in tcp;
    sockaddr_un local;
  } at{};
  socklen_t bytes = 0;
};

RawAddress LoopbackPort(std::uint16_t port) {
  RawAddress address;
  address.at.tcp = {};
  address.at.tcp.sin_family = AF_INET;
  address.at.tcp.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.at.tcp.sin_port = htons(port);
  address.bytes = sizeof(sockaddr_in);
  return address;
}

// Without a name the kernel picks one.
RawAddress LocalName(const std::string& name) {
  RawAddress address;
  address.at.local = {};
  address.at.local.sun_family = AF_UNIX;
  address.bytes = sizeof(sa_family_t);
  if (name.empty()) return address;
  std::memcpy(address.at.local.sun_path + 1, name.data(), name.size());
  address.bytes += static_cast<socklen_t>(1 + name.size());
  return address;
}

int RawSocket(RawKind kind) {
  const int fd = socket(kind == RawKind::kTcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  Must(fd >= 0, "raw socket");
  return fd;
}

}  // namespace

RawListener RawListen(RawKind kind) {
  RawListener listener;
  listener.fd = RawSocket(kind);
  RawAddress address = kind == RawKind::kTcp ? LoopbackPort(0) : LocalName("");
  Must(bind(listener.fd, &address.at.any, address.bytes) == 0, "raw bind");
  Must(listen(listener.fd, 1) == 0, "raw listen");
  address.bytes = sizeof(address.at);
  Must(getsockname(listener.fd, &address.at.any, &address.bytes) == 0, "raw getsockname");
  listener.address = kind == RawKind::kTcp ? std::to_string(ntohs(address.at.tcp.sin_port))
                                           : std::string(address.at.local.sun_path + 1,
                                                         address.bytes - sizeof(sa_family_t) - 1);
  return listener;
}

void RawServe(const RawListener& listener, const Shape& shape) {
  const int fd = accept4(listener.fd, nullptr, nullptr, SOCK_CLOEXEC);
  Must(fd >= 0, "raw accept");
  NoDelay(fd);
  std::vector<char> blocks(shape.block_bytes * shape.blocks, 1);
  for (std::uint64_t i = 0;; ++i) {
    char* const block = blocks.data() + i % shape.blocks * shape.block_bytes;
    if (!ReceiveAll(fd, block, shape.block_bytes)) break;
    SendAll(fd, block, shape.block_bytes);
  }
  close(fd);
}

RawClient::RawClient(RawKind kind, const std::string& address, const Shape& shape)
    : shape_(shape),
      fd_(RawSocket(kind)),
      there_(shape.block_bytes * shape.blocks, 1),
      back_(shape.block_bytes * shape.blocks, 1),
      sent_at_ns_(shape.in_flight) {
  const RawAddress to = kind == RawKind::kTcp
                            ? LoopbackPort(static_cast<std::uint16_t>(std::atoi(address.c_str())))
                            : LocalName(address);
  Must(connect(fd_, &to.at.any, to.bytes) == 0, "raw connect");
  NoDelay(fd_);
}

RawClient::~RawClient() { close(fd_); }

void RawClient::SendNext() {
  if (sent_ % shape_.looks_every() == 0) sent_at_ns_[sent_ % shape_.in_flight] = NowNs();
  SendAll(fd_, there_.data() + sent_++ % shape_.blocks * shape_.block_bytes, shape_.block_bytes);
}

void RawClient::ReceiveNext(LatencyHistogram& latency) {
  Must(ReceiveAll(fd_, back_.data() + received_ % shape_.blocks * shape_.block_bytes, shape_.block_bytes),
       "raw recv");
  if (received_ % shape_.looks_every() == 0)
    latency.Note(NowNs() - sent_at_ns_[received_ % shape_.in_flight]);
  ++received_;
}

std::uint64_t RawClient::Run(double seconds, LatencyHistogram& latency) {
  const std::uint64_t before = received_;
  const std::uint64_t end_ns = NowNs() + static_cast<std::uint64_t>(seconds * 1e9);
  // Data that fits into the kernel's buffers needs no second thread: neither side ever waits to send.
  if (shape_.block_bytes * shape_.in_flight <= 64 * 1024) {
    while ((received_ - before) % shape_.looks_every() != 0 || NowNs() < end_ns) {
      while (sent_ - received_ < shape_.in_flight) SendNext();
      ReceiveNext(latency);
    }
    while (received_ < sent_) ReceiveNext(latency);
    return received_ - before;
  }
  std::counting_semaphore<> room(static_cast<std::ptrdiff_t>(shape_.in_flight));
  std::counting_semaphore<> under_way(0);
  std::atomic<bool> last{false};
  std::thread sender([&] {
    while (NowNs() < end_ns) {
      room.acquire();
      SendNext();
      under_way.release();
    }
    last = true;
    under_way.release();
  });
  for (std::uint64_t i = before;; ++i) {
    under_way.acquire();
    if (last && i == sent_) break;
    ReceiveNext(latency);
    room.release();
  }
  sender.join();
  return received_ - before;
}

}  // namespace leeway::bench
