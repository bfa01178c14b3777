// Writes to the standard error of this process. A reader that went away, or a full disk, costs the text and
// nothing else: fmt::print would throw and end the process without its exit code. For any thread.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace leeway::app {

void WriteError(std::string_view text);

template <typename... Args>
void PrintError(fmt::format_string<Args...> format, Args&&... args) {
  WriteError(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace leeway::app
