// Specs of every exchange policy, for the contract tests: a row of src/exchange/builtin.def joins by having
// one here, and fails without.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace leeway {

inline std::map<std::string, std::vector<std::string>> ExchangeExamples() {
  return {{"every", {"every:1", "every:2", "every:k=4", "every:1000000"}},
          {"significant",
           {"significant:0", "significant:t=0.01", "significant:\"1e+300\"", "significant:1e-300"}},
          {"when_stale", {"when_stale:0", "when_stale:s=9"}}};
}

}  // namespace leeway
