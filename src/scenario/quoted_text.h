// Quoted: a text as a scenario file has it.
#pragma once

#include <string>
#include <string_view>

namespace leeway::scenario {

// Whether a text is UTF-8 without control characters.
[[nodiscard]] bool IsPlainText(std::string_view text);

// In quotes. Scenario files are ASCII (apps/leeway/toml), so all other characters are escaped. A file's name
// may hold a text that SetKey would refuse: it is shown as well as possible.
[[nodiscard]] std::string Quoted(std::string_view text);

}  // namespace leeway::scenario
