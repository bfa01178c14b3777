// LW_CHECK: catches our own bugs, in release builds too; prints the values and aborts. Never used on received
// bytes or configuration.
#pragma once

#include <fmt/format.h>

#include <string>

namespace leeway {
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition, const std::string& detail);
}  // namespace leeway

#define LW_CHECK(condition, ...)                                                            \
  do {                                                                                      \
    if (!(condition)) [[unlikely]]                                                          \
      ::leeway::CheckFailed(__FILE__, __LINE__, #condition, ::fmt::format("" __VA_ARGS__)); \
  } while (false)
