// "host:port", "local:<name>" or "file:<path>" as options give it -> an AddressSource that is asked at every
// connect.
#pragma once

#include <string>

#include "node/link.h"

namespace leeway {
[[nodiscard]] AddressSource MakeAddressSource(const std::string& scheduler);
// Where a node listens that only processes of this host look for: at a Unix socket of any free name, and
// where the transport is "tcp" at any free port of loopback.
[[nodiscard]] std::string ListenOnThisHost(const std::string& transport);
}  // namespace leeway
