// Log levels by name: debug, info, warning, error.
#pragma once

#include <string>

#include "leeway/env.h"
#include "leeway/status.h"

namespace leeway::app {
[[nodiscard]] Result<LogLevel> ParseLogLevel(const std::string& text);
}  // namespace leeway::app
