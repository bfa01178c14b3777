#include "raw_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <semaphore>
#include <thread>

namespace leeway::bench {
namespace {

double NowUs() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
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

void NoDelay(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

sockaddr_in Loopback(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(port);
  return at;
}

}  // namespace

RawListener RawListen() {
  RawListener listener;
  listener.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at = Loopback(0);
  socklen_t bytes = sizeof(at);
  Must(bind(listener.fd, reinterpret_cast<sockaddr*>(&at), bytes) == 0, "raw bind");
  Must(listen(listener.fd, 1) == 0, "raw listen");
  Must(getsockname(listener.fd, reinterpret_cast<sockaddr*>(&at), &bytes) == 0, "raw getsockname");
  listener.port = ntohs(at.sin_port);
  return listener;
}

void RawServe(const RawListener& listener, const RawShape& shape) {
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

RawClient::RawClient(std::uint16_t port, const RawShape& shape)
    : shape_(shape),
      fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      there_(shape.block_bytes * shape.blocks, 1),
      back_(shape.block_bytes * shape.blocks, 1),
      sent_at_us_(shape.in_flight) {
  const sockaddr_in to = Loopback(port);
  Must(connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0, "raw connect");
  NoDelay(fd_);
}

RawClient::~RawClient() { close(fd_); }

void RawClient::SendNext() {
  sent_at_us_[sent_ % shape_.in_flight] = NowUs();
  SendAll(fd_, there_.data() + sent_++ % shape_.blocks * shape_.block_bytes, shape_.block_bytes);
}

void RawClient::ReceiveNext(std::vector<float>& latencies_us) {
  Must(ReceiveAll(fd_, back_.data() + received_ % shape_.blocks * shape_.block_bytes, shape_.block_bytes),
       "raw recv");
  latencies_us.push_back(static_cast<float>(NowUs() - sent_at_us_[received_++ % shape_.in_flight]));
}

std::uint64_t RawClient::Run(double seconds, std::vector<float>& latencies_us) {
  const std::uint64_t before = received_;
  const double end_us = NowUs() + seconds * 1e6;
  // What fits into the kernel's buffers needs no second thread: neither side ever waits to send.
  if (shape_.block_bytes * shape_.in_flight <= 64 * 1024) {
    while (NowUs() < end_us) {
      while (sent_ - received_ < shape_.in_flight) SendNext();
      ReceiveNext(latencies_us);
    }
    while (received_ < sent_) ReceiveNext(latencies_us);
    return received_ - before;
  }
  std::counting_semaphore<> room(static_cast<std::ptrdiff_t>(shape_.in_flight));
  std::counting_semaphore<> under_way(0);
  std::atomic<bool> last{false};
  std::thread sender([&] {
    while (NowUs() < end_us) {
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
    ReceiveNext(latencies_us);
    room.release();
  }
  sender.join();
  return received_ - before;
}

}  // namespace leeway::bench
