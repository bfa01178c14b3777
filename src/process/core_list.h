// CoreList: the core of each shard of a server.
//
// A shard that keeps its core keeps its caches. But a shard that would share its core with a computing script
// is faster where the system puts it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "leeway/status.h"

namespace leeway {

// Returns the core of each of `shards` shards of server number `server`, by `spec` (ServerOptions::cores).
// Empty: no shard is pinned. `allowed` are the cores that this process may use.
[[nodiscard]] Result<std::vector<int>> CoresOf(std::string_view spec, std::uint32_t server,
                                               std::uint32_t shards, std::span<const int> allowed);
// The cores that this process may use.
[[nodiscard]] std::vector<int> AllowedCores();
// Keeps the calling thread on `core`.
[[nodiscard]] Status StayOn(int core);

}  // namespace leeway
