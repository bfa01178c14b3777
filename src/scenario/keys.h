// Keys: everything of a scenario that can be said, by name: "compute.spread". Scenario files, --set and
// --sweep all speak through this table, and so does what a report prints of a scenario.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "leeway/status.h"
#include "scenario/scenario.h"

namespace leeway::scenario {

// A value as somebody wrote it: one text, or several of a list.
struct Written {
  std::vector<std::string> texts;
  bool is_list = false;
  bool is_quoted = false;  // in quotes where quotes mean something: no number
  std::string got;         // how a message calls it
};

// A value written without quotes and brackets: "--set compute.spread=0.2". A key that wants a list takes
// "a,b,c".
[[nodiscard]] Written Plain(std::string_view text);

// Nothing changes on an error, which says key, got and wanted, and suggests a name for one that is unknown.
// Texts are UTF-8 without control characters.
[[nodiscard]] Status SetKey(Scenario& scenario, const std::string& key, const Written& value);

struct KeyText {
  std::string key, wanted, help, value;  // the value it has in `scenario`, as it would be written
};
// All of them, in the order of the table.
[[nodiscard]] std::vector<KeyText> KeysOf(const Scenario& scenario);
// The scenario as a file that says all of it.
[[nodiscard]] std::string ToToml(const Scenario& scenario);

// Checks what no key can check alone: that numbers fit together.
[[nodiscard]] Status CheckWhole(const Scenario& scenario);

}  // namespace leeway::scenario
