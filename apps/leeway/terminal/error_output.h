// Writes text to this process's standard error, and flushes its standard output.
//
// Standard error: a reader that went away, or a full disk, costs the text and nothing else. (fmt::print would
// throw and end the process without its exit code.) For any thread.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "leeway/status.h"

namespace leeway::app {

void WriteError(std::string_view text);

// Flushes stdout. Returns an error if the text cannot be written (a full disk). A reader that went away is no
// error. A later call does not repeat the error, so no caller may drop it.
[[nodiscard]] Status FlushOutput();

template <typename... Args>
void PrintError(fmt::format_string<Args...> format, Args&&... args) {
  WriteError(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace leeway::app
