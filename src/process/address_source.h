// "host:port" or "file:<path>" as options give it -> an AddressSource that is asked at every connect.
#pragma once

#include <string>

#include "node/link.h"

namespace leeway {
[[nodiscard]] AddressSource MakeAddressSource(const std::string& scheduler);
}  // namespace leeway
