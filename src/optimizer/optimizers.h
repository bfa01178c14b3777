// The built-in optimizers: the rows of builtin.def.
#pragma once

#include "base/registry.h"
#include "leeway/optimizer.h"

namespace leeway {
[[nodiscard]] Registry<Optimizer> BuiltinOptimizers();
}  // namespace leeway
