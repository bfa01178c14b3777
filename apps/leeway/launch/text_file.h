// Small text files: written whole or not at all, read whole.
#pragma once

#include <string>

#include "leeway/status.h"

namespace leeway::app {

// Writes beside `path` and renames, so that a reader never sees half of it.
[[nodiscard]] Status WriteTextFile(const std::string& path, const std::string& text);
[[nodiscard]] Result<std::string> ReadTextFile(const std::string& path);

}  // namespace leeway::app
