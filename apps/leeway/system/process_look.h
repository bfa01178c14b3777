// Looks at processes of this host that need not be children of this one.
#pragma once

#include <cstdint>
#include <string>

namespace leeway::app {

// As a worker says it of itself when it joins; empty if unknown.
[[nodiscard]] std::string OwnHostName();
// No process with this id runs on this host, as this one sees it; a zombie does not run. False when in doubt.
[[nodiscard]] bool HasProcessEnded(std::uint64_t pid);

}  // namespace leeway::app
