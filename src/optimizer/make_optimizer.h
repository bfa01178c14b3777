// MakeOptimizer: the optimizer of a spec, with the constraints that follow it: "sgd+clamp:-0.01,0.01".
//
// A constraint limits values. The returned optimizer enforces it after every run, and on initial and assigned
// values.
#pragma once

#include <string>
#include <string_view>

#include "base/registry.h"
#include "leeway/optimizer.h"

namespace leeway {

// The first term is a row of `optimizers`, all others are constraints (constraint.h). `resolved`, if given,
// gets the spec with every argument filled in, so that two specs with the same meaning are equal.
[[nodiscard]] Result<OptimizerPtr> MakeOptimizer(const Registry<Optimizer>& optimizers, std::string_view spec,
                                                 std::string* resolved = nullptr);

}  // namespace leeway
