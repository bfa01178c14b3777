// The size of the last-level cache of this machine.
//
// Read from the kernel's own table, since the C library tells that of the whole processor: on a virtual
// machine with a part of a large one it said 256 MiB where the cores shared 32.
#pragma once

#include <cstdint>
#include <string>

namespace leeway {

// In bytes; the C library's figure where `folder` does not tell, and 32 MiB where that does not either.
[[nodiscard]] std::uint64_t LastLevelCacheBytes(
    const std::string& folder = "/sys/devices/system/cpu/cpu0/cache");

}  // namespace leeway
