// WorkerNames: "worker 2", "workers 1, 2, 5 and 60 more", for messages.
#pragma once

#include <span>
#include <string>

#include "leeway/ids.h"

namespace leeway {

[[nodiscard]] std::string WorkerNames(std::span<const WorkerId> workers);

}  // namespace leeway
