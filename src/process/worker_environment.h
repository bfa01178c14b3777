// WorkerOptionsFrom: turns a launcher's variables into WorkerOptions.
//
// python/leeway/environment.py reads the same variables for Python scripts.
#pragma once

#include <functional>

#include "leeway/options.h"
#include "leeway/status.h"

namespace leeway {

// The value of a variable, or null if it is not set.
using Variables = std::function<const char*(const char* name)>;

[[nodiscard]] Result<WorkerOptions> WorkerOptionsFrom(const Variables& variables);

}  // namespace leeway
