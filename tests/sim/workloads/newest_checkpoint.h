// NewestOn: the newest whole checkpoint in a folder of a simulated disk, for workloads whose jobs go on from
// it.
#pragma once

#include <string>

#include "sim/disk.h"

namespace leeway::sim {

// Its path; empty if there is none.
[[nodiscard]] std::string NewestOn(const Disk& disk, const std::string& folder);

}  // namespace leeway::sim
