// Turns an address of the options ("host:port", "local:<name>" or "file:<path>") into an AddressSource, which
// every connect asks.
#pragma once

#include <string>

#include "leeway/status.h"
#include "node/link.h"

namespace leeway {
[[nodiscard]] AddressSource MakeAddressSource(const std::string& scheduler);
// The listen address of a node that only processes of this host reach: a Unix socket with any free name, or,
// with transport "tcp", any free port of loopback.
[[nodiscard]] std::string ListenOnThisHost(const std::string& transport);
// Whether `scheduler` has the form of an address. Without this check a node would try a wrong one until it
// gives the scheduler up.
[[nodiscard]] Status CheckAddress(const std::string& scheduler);
}  // namespace leeway
