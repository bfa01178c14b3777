// The built-in placements: the rows of builtin.def.
#pragma once

#include "base/registry.h"
#include "leeway/placement.h"

namespace leeway {
[[nodiscard]] Registry<Placement> BuiltinPlacements();
}  // namespace leeway
