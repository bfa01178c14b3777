// Socket: owns one descriptor. Every socket made here is non-blocking and close-on-exec.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "leeway/status.h"
#include "transport/stream/address.h"

namespace leeway {

class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket();
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept;

  [[nodiscard]] static Result<Socket> Open(int family);
  // TCP_NODELAY, since frames are batched by us, and a bound on the unsent bytes that the kernel takes.
  void Tune(int notsent_lowat_bytes) const;
  [[nodiscard]] int fd() const { return fd_; }
  // Of the other end of a Unix socket.
  struct Process {
    std::int64_t pid = 0;
    bool same_user = false;  // as this process, or the system's administrator
  };
  [[nodiscard]] Process PeerProcess() const;

 private:
  int fd_ = -1;
};

// Whether a call that did nothing is to be made again when the socket is ready.
[[nodiscard]] bool IsWouldBlock(int error);
// "connection refused", ... for an errno value.
[[nodiscard]] std::string ErrnoText(int error);

}  // namespace leeway
