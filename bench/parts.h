// Parts: what `leeway bench all` runs, one bench with its flags each.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "leeway/status.h"

namespace leeway::bench {

struct Part {
  std::string name;                // "pushpull.local.1MiB": what its figures begin with
  std::vector<std::string> words;  // after "leeway bench"
};

// `quick`: each as short as it can be, to see that it runs; such figures mean little.
[[nodiscard]] std::vector<Part> AllParts(bool quick);
// The parts of `all` that `only` names in full or by their beginning ("pushpull", "pushpull.tcp"); all of
// them if it is empty. An error lists the known parts.
[[nodiscard]] Result<std::vector<Part>> ChooseParts(const std::vector<Part>& all,
                                                    std::span<const std::string> only);

}  // namespace leeway::bench
