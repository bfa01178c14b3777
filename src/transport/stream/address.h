// Addresses as people write them ("host:port", "[::1]:0", "local:name") and as sockets take them.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/status.h"

namespace leeway {

// A host name or numeric address, and a port. Prints as it parses; IPv6 hosts in brackets.
struct Endpoint {
  std::string host;
  std::uint16_t port = 0;

  [[nodiscard]] static Result<Endpoint> Parse(std::string_view text);
  [[nodiscard]] std::string ToString() const;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// An address of this host alone, "local:NAME": the name of an abstract Unix socket. No name: any free one.
inline constexpr std::string_view kLocalPrefix = "local:";
inline constexpr std::size_t kLocalNameMax = 64;
[[nodiscard]] inline bool IsLocal(std::string_view address) { return address.starts_with(kLocalPrefix); }
// The name: letters, digits and ".", "_", "-", at most 64 of them, perhaps none. REQUIRES: IsLocal(address).
[[nodiscard]] Result<std::string> ParseLocal(std::string_view address);

// A numeric address that a socket takes. A plain value.
class SocketAddress {
 public:
  [[nodiscard]] static SocketAddress FromRaw(const sockaddr* raw, std::size_t bytes);
  // The address `fd` is bound to / connected to; an empty one (family 0) if it has none.
  [[nodiscard]] static SocketAddress OfSocket(int fd);
  [[nodiscard]] static SocketAddress OfPeer(int fd);
  // The Unix socket of "local:NAME". REQUIRES: a name that ParseLocal gave.
  [[nodiscard]] static SocketAddress Local(std::string_view name);
  // Where a process that listens at `tcp` listens for others on its host: a Unix socket of the abstract kind,
  // whose name is gone with it.
  [[nodiscard]] static SocketAddress LocalOf(const SocketAddress& tcp);

  [[nodiscard]] const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  [[nodiscard]] socklen_t raw_bytes() const { return bytes_; }
  [[nodiscard]] int family() const { return storage_.ss_family; }
  [[nodiscard]] bool IsLoopback() const;
  [[nodiscard]] bool IsUnix() const { return family() == AF_UNIX; }
  // Whether it is an address of this host, as this network namespace sees it.
  [[nodiscard]] bool IsOwn() const;
  // The same port at the wildcard addresses of the host; that of its own family last. A process that listens
  // at the IPv6 wildcard is reached by IPv4 too.
  [[nodiscard]] std::vector<SocketAddress> Wildcards() const;
  // "127.0.0.1:4000", "[::1]:4000".
  [[nodiscard]] std::string ToString() const;
  friend bool operator==(const SocketAddress& a, const SocketAddress& b) {
    return a.ToString() == b.ToString();
  }

 private:
  sockaddr_storage storage_{};
  socklen_t bytes_ = 0;
};

// The address of a numeric host or of "localhost" (127.0.0.1, which needs no look-up); empty for any other
// name.
[[nodiscard]] std::vector<SocketAddress> NumericAddresses(const Endpoint& endpoint);
// Looks `endpoint` up, blocking for names that are not numeric.
[[nodiscard]] Result<std::vector<SocketAddress>> LookUp(const Endpoint& endpoint);

}  // namespace leeway
