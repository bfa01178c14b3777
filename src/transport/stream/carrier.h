// Carrier: what frames go over, by the names that people write.
#pragma once

#include <cstdint>
#include <string_view>

#include "leeway/status.h"

namespace leeway {

// In this order: shared memory with a Unix socket where both ends are on one host and can share, else TCP;
// shared memory only; the Unix socket without shared memory; TCP only. A listener listens at its Unix socket
// too, unless it is kTcp.
enum class Carrier : std::uint8_t { kAuto, kLocal, kUds, kTcp };

// "auto", "local", "uds", "tcp".
[[nodiscard]] Result<Carrier> ParseCarrier(std::string_view text);

}  // namespace leeway
