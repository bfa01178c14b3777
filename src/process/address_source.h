// Turns an address of the options ("host:port", "local:<name>" or "file:<path>") into an AddressSource, which
// every connect asks.
#pragma once

#include <string>

#include "node/link.h"

namespace leeway {
[[nodiscard]] AddressSource MakeAddressSource(const std::string& scheduler);
// The listen address of a node that only processes of this host reach: a Unix socket with any free name, or,
// with transport "tcp", any free port of loopback.
[[nodiscard]] std::string ListenOnThisHost(const std::string& transport);
}  // namespace leeway
