#include "transport/stream/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

#include "base/errors.h"
#include "base/number_from.h"

namespace leeway {
namespace {

constexpr std::string_view kWanted = "wanted \"host:port\" or \"[ipv6]:port\"";

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Result<std::vector<SocketAddress>> GetAddresses(const Endpoint& endpoint, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
  if (error != 0) return Unavailable("cannot look up host \"{}\": {}", endpoint.host, gai_strerror(error));
  const AddressList list(found, &freeaddrinfo);
  std::vector<SocketAddress> addresses;
  for (const addrinfo* at = list.get(); at != nullptr; at = at->ai_next) {
    addresses.push_back(SocketAddress::FromRaw(at->ai_addr, at->ai_addrlen));
  }
  return addresses;
}

}  // namespace

Result<Endpoint> Endpoint::Parse(std::string_view text) {
  Endpoint endpoint;
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos)
      return InvalidArgument("address \"{}\": no ']' after '['; {}", text, kWanted);
    endpoint.host = text.substr(1, close - 1);
    const std::string_view rest = text.substr(close + 1);
    if (!rest.starts_with(':'))
      return InvalidArgument("address \"{}\": no \":port\" after ']'; {}", text, kWanted);
    port = rest.substr(1);
  } else {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return InvalidArgument("address \"{}\": no port; {}", text, kWanted);
    endpoint.host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (endpoint.host.find(':') != std::string::npos) {
      return InvalidArgument("address \"{}\": an IPv6 host needs brackets; {}", text, kWanted);
    }
  }
  if (endpoint.host.empty()) return InvalidArgument("address \"{}\": the host is empty; {}", text, kWanted);
  const auto number = NumberFrom<std::uint16_t>(port);
  if (!number)
    return InvalidArgument("address \"{}\": bad port \"{}\"; wanted a number from 0 to 65535", text, port);
  endpoint.port = *number;
  return endpoint;
}

std::string Endpoint::ToString() const {
  const bool v6 = host.find(':') != std::string::npos;
  return fmt::format(fmt::runtime(v6 ? "[{}]:{}" : "{}:{}"), host, port);
}

SocketAddress SocketAddress::FromRaw(const sockaddr* raw, std::size_t bytes) {
  SocketAddress address;
  bytes = std::min(bytes, sizeof(address.storage_));
  std::memcpy(&address.storage_, raw, bytes);
  address.bytes_ = static_cast<socklen_t>(bytes);
  return address;
}

SocketAddress SocketAddress::OfSocket(int fd) {
  SocketAddress address;
  address.bytes_ = sizeof(address.storage_);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage_), &address.bytes_) != 0) return {};
  return address;
}

SocketAddress SocketAddress::OfPeer(int fd) {
  SocketAddress address;
  address.bytes_ = sizeof(address.storage_);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address.storage_), &address.bytes_) != 0) return {};
  return address;
}

Result<std::string> ParseLocal(std::string_view address) {
  const std::string_view name = address.substr(kLocalPrefix.size());
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  if (name.size() > kLocalNameMax || !std::all_of(name.begin(), name.end(), fits)) {
    return InvalidArgument(
        "address \"{}\": wanted local:NAME with at most {} letters, digits, \".\", \"_\" or \"-\" in the "
        "name",
        address, kLocalNameMax);
  }
  return std::string(name);
}

SocketAddress SocketAddress::LocalOf(const SocketAddress& tcp) { return Local(tcp.ToString()); }

SocketAddress SocketAddress::Local(std::string_view suffix) {
  SocketAddress address;
  auto& local = reinterpret_cast<sockaddr_un&>(address.storage_);
  local.sun_family = AF_UNIX;
  const std::string name = "leeway/" + std::string(suffix);
  // A leading zero byte makes the name an abstract one.
  std::memcpy(local.sun_path + 1, name.data(), name.size());
  address.bytes_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

bool SocketAddress::IsOwn() const {
  if (IsLoopback()) return true;
  SocketAddress any_port = *this;
  if (family() == AF_INET) reinterpret_cast<sockaddr_in&>(any_port.storage_).sin_port = 0;
  if (family() == AF_INET6) reinterpret_cast<sockaddr_in6&>(any_port.storage_).sin6_port = 0;
  const int fd = socket(family(), SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const bool own = bind(fd, any_port.raw(), any_port.raw_bytes()) == 0;
  close(fd);
  return own;
}

std::vector<SocketAddress> SocketAddress::Wildcards() const {
  std::vector<SocketAddress> all;
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_addr = in6addr_any;
  if (family() == AF_INET) {
    auto v4 = reinterpret_cast<const sockaddr_in&>(storage_);
    v6.sin6_port = v4.sin_port;
    v4.sin_addr.s_addr = htonl(INADDR_ANY);
    all.push_back(FromRaw(reinterpret_cast<const sockaddr*>(&v6), sizeof(v6)));
    all.push_back(FromRaw(reinterpret_cast<const sockaddr*>(&v4), sizeof(v4)));
  } else if (family() == AF_INET6) {
    v6.sin6_port = reinterpret_cast<const sockaddr_in6&>(storage_).sin6_port;
    all.push_back(FromRaw(reinterpret_cast<const sockaddr*>(&v6), sizeof(v6)));
  }
  return all;
}

bool SocketAddress::IsLoopback() const {
  if (family() == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(storage_);
    return (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
  }
  if (family() == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(storage_);
    return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
  }
  return false;
}

std::string SocketAddress::ToString() const {
  char host[INET6_ADDRSTRLEN] = "?";
  Endpoint endpoint;
  if (IsUnix()) return "a Unix socket";
  if (family() == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(storage_);
    inet_ntop(AF_INET, &v4.sin_addr, host, sizeof(host));
    endpoint.port = ntohs(v4.sin_port);
  } else if (family() == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(storage_);
    inet_ntop(AF_INET6, &v6.sin6_addr, host, sizeof(host));
    endpoint.port = ntohs(v6.sin6_port);
  }
  endpoint.host = host;
  return endpoint.ToString();
}

std::vector<SocketAddress> NumericAddresses(const Endpoint& endpoint) {
  const Endpoint numeric{endpoint.host == "localhost" ? "127.0.0.1" : endpoint.host, endpoint.port};
  Result<std::vector<SocketAddress>> found = GetAddresses(numeric, AI_NUMERICHOST);
  return found.ok() ? *std::move(found) : std::vector<SocketAddress>();
}

Result<std::vector<SocketAddress>> LookUp(const Endpoint& endpoint) {
  std::vector<SocketAddress> numeric = NumericAddresses(endpoint);
  if (!numeric.empty()) return numeric;
  return GetAddresses(endpoint, 0);
}

}  // namespace leeway
