// Reads from the text of an address which machine it is on: "127.0.0.1:7000", "[::1]:0", "local:name".
#pragma once

#include <string_view>

namespace leeway {

// The part before the port, with its brackets; the whole text if it has no port.
[[nodiscard]] inline std::string_view HostOfAddress(std::string_view address) {
  return address.substr(0, address.rfind(':'));
}

// Only processes of the same machine reach such a host.
[[nodiscard]] inline bool IsLoopbackHost(std::string_view host) {
  return host.starts_with("127.") || host == "localhost" || host == "::1" || host == "[::1]";
}

}  // namespace leeway
