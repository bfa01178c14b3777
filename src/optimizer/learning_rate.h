// The learning rate of one run: the worker's lr times the block's 1/N or d/N, rounded to float once.
#pragma once

#include "leeway/optimizer.h"

namespace leeway {

[[nodiscard]] inline double LearningRate(const StepInput& in) {
  return static_cast<double>(in.hyper.lr) * static_cast<double>(in.lr_scale);
}

}  // namespace leeway
