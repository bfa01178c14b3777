#include "role/log_level.h"

#include <fmt/ranges.h>

#include <vector>

#include "base/errors.h"

namespace leeway::app {

Result<LogLevel> ParseLogLevel(const std::string& text) {
  const std::vector<std::string> names{"debug", "info", "warning", "error"};  // in the order of LogLevel
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (text == names[i]) return static_cast<LogLevel>(i);
  }
  return InvalidArgument("unknown level \"{}\"; known: {}{}", text, fmt::join(names, ", "),
                         DidYouMean(text, names));
}

}  // namespace leeway::app
