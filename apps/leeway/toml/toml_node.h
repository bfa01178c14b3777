// The parts of toml++ that a reader of TOML files needs. No file includes toml++ but through this one.
#pragma once

// A file that is no TOML is a value to us, not an exception.
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "leeway/status.h"

namespace leeway::app {

[[nodiscard]] std::uint32_t LineOf(const toml::node& node);
// How a message calls a value.
[[nodiscard]] std::string Shown(const toml::node& node);

// The text of a file, which is not too large for one that people write.
[[nodiscard]] Result<std::string> ReadTomlText(const std::string& path);
// `name` is the file's, for messages: "job.toml line 7: ...".
[[nodiscard]] Result<toml::table> ParseToml(std::string_view text, const std::string& name);

}  // namespace leeway::app
