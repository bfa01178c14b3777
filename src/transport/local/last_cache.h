// The last cache of this machine: what the cores that share it can keep between memory and themselves.
//
// The kernel's own table is read, since the C library's figure is that of the whole processor: on a virtual
// machine with a part of a large one it has been seen to say 256 MiB where its cores share 32.
#pragma once

#include <cstdint>
#include <string>

namespace leeway {

// In bytes; the C library's figure where `folder` does not tell, and 32 MiB where that does not either.
[[nodiscard]] std::uint64_t LastCacheBytes(const std::string& folder = "/sys/devices/system/cpu/cpu0/cache");

}  // namespace leeway
