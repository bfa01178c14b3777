// CoreList: which core each shard of a server runs on.
//
// A shard that keeps its core keeps its caches; but one that must share a core with a script that computes is
// better off where the system puts it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "leeway/status.h"

namespace leeway {

// The core of each of `shards` shards of server number `server`, as `spec` says (ServerOptions::cores);
// empty: none is pinned. `allowed` are the cores that this process may use.
[[nodiscard]] Result<std::vector<int>> CoresOf(std::string_view spec, std::uint32_t server,
                                               std::uint32_t shards, std::span<const int> allowed);
// The cores that this process may use.
[[nodiscard]] std::vector<int> AllowedCores();
// Keeps the calling thread on `core`.
[[nodiscard]] Status StayOn(int core);

}  // namespace leeway
