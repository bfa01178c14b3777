// FileError: the Status of a file call for an errno value. Real and simulated files share one table, so that
// a node meets the same codes and words in both worlds.
#pragma once

#include <string_view>

#include "leeway/status.h"

namespace leeway {

// "<what>: <the system's words for `error`>" with the code that leeway/storage.h promises; ok for 0.
[[nodiscard]] Status FileError(int error, std::string_view what);

// Checks `path` before any file is touched. An empty path is an error. So is a path with a zero byte, which
// the system would read as a shorter path.
[[nodiscard]] Status CheckPath(std::string_view path);

}  // namespace leeway
