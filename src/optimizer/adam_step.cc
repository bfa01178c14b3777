#include "optimizer/adam_step.h"

#include <cmath>

#include "optimizer/learning_rate.h"

namespace leeway {

// Computed in double, as torch does in Python, and rounded once.
kernels::AdamStep AdamStepOf(const StepInput& in, Decay decay) {
  const double lr = LearningRate(in);
  const double beta1 = in.hyper.momentum;
  const double beta2 = in.hyper.beta2;
  const double step = static_cast<double>(in.step);
  const double bc1 = 1.0 - std::pow(beta1, step);
  const double bc2 = 1.0 - std::pow(beta2, step);
  const double weight_decay = in.hyper.weight_decay;
  return {.g_scale = in.g_scale,
          .decay = decay == Decay::kInGradient ? in.hyper.weight_decay : 0.0F,
          .shrink = decay == Decay::kDecoupled ? static_cast<float>(1.0 - lr * weight_decay) : 1.0F,
          .beta1 = in.hyper.momentum,
          .keep1 = static_cast<float>(1.0 - beta1),
          .beta2 = in.hyper.beta2,
          .keep2 = static_cast<float>(1.0 - beta2),
          .step_size = static_cast<float>(lr / bc1),
          .root_bc2 = static_cast<float>(std::sqrt(bc2)),
          .eps = in.hyper.eps};
}

}  // namespace leeway
