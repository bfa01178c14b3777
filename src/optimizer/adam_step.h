// AdamStepOf: the constants of one run of adam or adamw, which differ only in the place of the weight decay.
#pragma once

#include "leeway/optimizer.h"
#include "optimizer/kernels.h"

namespace leeway {

enum class Decay { kInGradient, kDecoupled };

[[nodiscard]] kernels::AdamStep AdamStepOf(const StepInput& in, Decay decay);

}  // namespace leeway
