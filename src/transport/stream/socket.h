// Socket: owns the descriptor of one. Every socket made here is non-blocking and close-on-exec.
#pragma once

#include <cstdint>

#include "leeway/status.h"
#include "transport/stream/address.h"
#include "transport/system/descriptor.h"

namespace leeway {

class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : descriptor_(fd) {}

  [[nodiscard]] static Result<Socket> Open(int family);
  // Sets TCP_NODELAY, since the transport batches frames.
  void Tune() const;
  // Of TCP: the kernel takes no more once it has so many bytes that are not in flight yet.
  void LimitUnsent(std::uint64_t bytes) const;
  // Of TCP: bytes a second that the kernel last saw arrive while it had enough to send. 0: not known.
  [[nodiscard]] std::uint64_t DeliveryRate() const;
  [[nodiscard]] int fd() const { return descriptor_.fd(); }
  // The process at the other end of a Unix socket.
  struct Process {
    std::int64_t pid = 0;
    bool same_user = false;  // as this process, or the system's administrator
  };
  [[nodiscard]] Process PeerProcess() const;

 private:
  Descriptor descriptor_;
};

// Whether a call that did nothing is to be made again when the socket is ready.
[[nodiscard]] bool IsWouldBlock(int error);

}  // namespace leeway
