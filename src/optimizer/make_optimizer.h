// MakeOptimizer: the optimizer of a spec, with the constraints that follow it: "sgd+clamp:-0.01,0.01".
//
// A constraint says where values may be. The optimizer that comes out puts them there after every run, and
// puts initial and assigned values there as well.
#pragma once

#include <string>
#include <string_view>

#include "base/registry.h"
#include "leeway/optimizer.h"

namespace leeway {

// The first term is a row of `optimizers`, all others are constraints (constraint.h). `resolved`, if given,
// gets the spec with every argument in it: two specs that mean the same are equal.
[[nodiscard]] Result<OptimizerPtr> MakeOptimizer(const Registry<Optimizer>& optimizers, std::string_view spec,
                                                 std::string* resolved = nullptr);

}  // namespace leeway
