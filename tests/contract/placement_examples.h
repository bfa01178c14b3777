// Specs of every placement, for the contract tests: a row of src/placement/builtin.def joins by having one
// here, and fails without.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace leeway {

inline std::map<std::string, std::vector<std::string>> PlacementExamples() {
  return {{"eps", {"eps"}},
          {"lpt", {"lpt"}},
          {"range", {"range"}},
          {"raw_keys", {"raw_keys"}},
          {"round_robin", {"round_robin"}}};
}

}  // namespace leeway
