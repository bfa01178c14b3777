// Small text files: written whole or not at all, read whole.
#pragma once

#include <string>

#include "leeway/status.h"

namespace leeway::app {

// Whether it can be written, as far as that can be known before hours of work.
[[nodiscard]] Status CheckTextFile(const std::string& path);
// Writes beside `path` and renames, so that a reader never sees half of it. A link is followed; a pipe, a
// device or what this process has for its stdout or stderr is written to.
[[nodiscard]] Status WriteTextFile(const std::string& path, const std::string& text);
[[nodiscard]] Result<std::string> ReadTextFile(const std::string& path);

}  // namespace leeway::app
