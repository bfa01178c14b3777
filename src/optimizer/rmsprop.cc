// rmsprop: torch.optim.RMSprop. alpha is Hyper's beta2; weight decay is added to the gradient.
//   centered  1: the root is of the variance, with a running mean of the gradient
//   momentum  1: moves are added up with Hyper's momentum (which is 0 in torch by default)
// Both are arguments here and not in Hyper, because they decide the number of state arrays.
#include "base/policy_config.h"
#include "leeway/optimizer.h"
#include "optimizer/kernels.h"
#include "optimizer/learning_rate.h"

namespace leeway {
namespace {

class Rmsprop final : public Optimizer {
 public:
  Rmsprop(bool centered, bool momentum) : centered_(centered), momentum_(momentum) {}
  int slots() const override { return 1 + (centered_ ? 1 : 0) + (momentum_ ? 1 : 0); }
  bool Step(const StepInput& in, const StepOutput& out) const override {
    const std::size_t last = in.slots.size() - 1;
    kernels::RmspropState state{.square = in.slots[0], .mean = {}, .buf = {}};
    kernels::RmspropOutput to{.w = out.w, .square = out.slots[0], .mean = {}, .buf = {}};
    if (centered_) {
      state.mean = in.slots[1];
      to.mean = out.slots[1];
    }
    if (momentum_) {
      state.buf = in.slots[last];
      to.buf = out.slots[last];
    }
    const double alpha = in.hyper.beta2;
    return kernels::Rmsprop({.g_scale = in.g_scale,
                             .lr = static_cast<float>(LearningRate(in)),
                             .decay = in.hyper.weight_decay,
                             .alpha = in.hyper.beta2,
                             .keep = static_cast<float>(1.0 - alpha),
                             .eps = in.hyper.eps,
                             .mu = in.hyper.momentum},
                            in.w, in.g, state, to);
  }

 private:
  const bool centered_, momentum_;
};

}  // namespace

Result<OptimizerPtr> MakeRmsprop(const PolicyConfig& config) {
  LW_ASSIGN_OR_RETURN(const std::int64_t centered, config.IntInRange("centered", 0, 1, 0));
  LW_ASSIGN_OR_RETURN(const std::int64_t momentum, config.IntInRange("momentum", 0, 1, 0));
  return OptimizerPtr(std::make_unique<Rmsprop>(centered == 1, momentum == 1));
}

}  // namespace leeway
