// NewestOn: finds the newest complete checkpoint in a folder of a simulated disk, for workloads whose jobs
// resume from it.
#pragma once

#include <string>

#include "sim/disk.h"

namespace leeway::sim {

// Returns its path; empty if no checkpoint is complete.
[[nodiscard]] std::string NewestOn(const Disk& disk, const std::string& folder);

}  // namespace leeway::sim
