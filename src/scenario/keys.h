// Keys: every setting of a scenario, by name: "compute.spread". Scenario files, --set, --sweep and the
// reports' print of a scenario all use this table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "leeway/status.h"
#include "scenario/scenario.h"

namespace leeway::scenario {

// A value as a user wrote it: one text, or several in a list.
struct Written {
  std::vector<std::string> texts;
  bool is_list = false;
  bool is_quoted = false;  // in quotes where quotes have a meaning: no number
  std::string got;         // its name in a message
};

// A value written without quotes and brackets: "--set compute.spread=0.2". A key that wants a list takes
// "a,b,c".
[[nodiscard]] Written Plain(std::string_view text);

// Changes nothing on an error, which names key, got and wanted, and suggests a known name for an unknown one.
// Texts are UTF-8 without control characters.
[[nodiscard]] Status SetKey(Scenario& scenario, const std::string& key, const Written& value);

struct KeyText {
  std::string key, wanted, help, value;  // the value it has in `scenario`, as it would be written
};
// All of them, in the order of the table.
[[nodiscard]] std::vector<KeyText> KeysOf(const Scenario& scenario);
// The scenario as a file with every key.
[[nodiscard]] std::string ToToml(const Scenario& scenario);

// Checks what no key can check alone: that numbers fit together.
[[nodiscard]] Status CheckWhole(const Scenario& scenario);

}  // namespace leeway::scenario
