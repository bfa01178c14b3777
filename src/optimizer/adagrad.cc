// adagrad: torch.optim.Adagrad. Weight decay is added to the gradient.
//   lr_decay  the learning rate of run t is lr / (1 + (t - 1) * lr_decay)
//   initial   the initial sum of squares (initial_accumulator_value)
#include "base/policy_config.h"
#include "leeway/optimizer.h"
#include "optimizer/kernels.h"
#include "optimizer/learning_rate.h"

namespace leeway {
namespace {

class Adagrad final : public Optimizer {
 public:
  Adagrad(double lr_decay, float initial) : lr_decay_(lr_decay), initial_(initial) {}
  int slots() const override { return 1; }
  float initial(int) const override { return initial_; }
  bool Step(const StepInput& in, const StepOutput& out) const override {
    const double lr = LearningRate(in) / (1.0 + static_cast<double>(in.step - 1) * lr_decay_);
    return kernels::Adagrad({.g_scale = in.g_scale,
                             .lr = static_cast<float>(lr),
                             .decay = in.hyper.weight_decay,
                             .eps = in.hyper.eps},
                            in.w, in.g, in.slots[0], out.w, out.slots[0]);
  }

 private:
  const double lr_decay_;
  const float initial_;
};

}  // namespace

Result<OptimizerPtr> MakeAdagrad(const PolicyConfig& config) {
  LW_ASSIGN_OR_RETURN(const double lr_decay, config.DoubleInRange("lr_decay", 0.0, 1e9, 0.0));
  LW_ASSIGN_OR_RETURN(const double initial, config.DoubleInRange("initial", 0.0, 1e30, 0.0));
  return OptimizerPtr(std::make_unique<Adagrad>(lr_decay, static_cast<float>(initial)));
}

}  // namespace leeway
