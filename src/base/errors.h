// Errors with a formatted message: InvalidArgument("table {}: got {} values, wanted {}", ...).
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "leeway/status.h"

namespace leeway {

// Marked cold: the compiler lays error paths out apart from the code that runs every time, which then fits
// the caches better.
#define LW_ERROR_FUNCTION(name)                                                                             \
  template <typename... Args>                                                                               \
  [[nodiscard, gnu::cold, gnu::noinline]] Status name(fmt::format_string<Args...> format, Args&&... args) { \
    return {StatusCode::k##name, fmt::format(format, std::forward<Args>(args)...)};                         \
  }
LW_ERROR_FUNCTION(InvalidArgument)
LW_ERROR_FUNCTION(NotFound)
LW_ERROR_FUNCTION(AlreadyExists)
LW_ERROR_FUNCTION(FailedPrecondition)
LW_ERROR_FUNCTION(ResourceExhausted)
LW_ERROR_FUNCTION(Protocol)
LW_ERROR_FUNCTION(Internal)
LW_ERROR_FUNCTION(Unavailable)
LW_ERROR_FUNCTION(DeadlineExceeded)
LW_ERROR_FUNCTION(Fenced)
LW_ERROR_FUNCTION(Cancelled)
#undef LW_ERROR_FUNCTION

// ` (did you mean "ssp"?)` for the known name nearest to `got`, if a typing mistake explains the difference;
// else "".
[[nodiscard]] std::string DidYouMean(std::string_view got, std::span<const std::string> known);

}  // namespace leeway
