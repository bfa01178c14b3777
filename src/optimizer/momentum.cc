// momentum and nesterov: torch.optim.SGD with momentum, and with nesterov=True. The first step takes the
// gradient itself as its buffer, undampened.
#include "base/policy_config.h"
#include "leeway/optimizer.h"
#include "optimizer/kernels.h"
#include "optimizer/learning_rate.h"

namespace leeway {
namespace {

class Momentum final : public Optimizer {
 public:
  explicit Momentum(bool nesterov) : nesterov_(nesterov) {}
  int slots() const override { return 1; }
  bool Step(const StepInput& in, const StepOutput& out) const override {
    return kernels::Momentum({.g_scale = in.g_scale,
                              .lr = static_cast<float>(LearningRate(in)),
                              .decay = in.hyper.weight_decay,
                              .mu = in.hyper.momentum,
                              .keep = 1.0F - in.hyper.dampening,
                              .trust = 1.0F,
                              .first = in.step == 1,
                              .nesterov = nesterov_},
                             in.w, in.g, in.slots[0], out.w, out.slots[0]);
  }

 private:
  const bool nesterov_;
};

}  // namespace

Result<OptimizerPtr> MakeMomentum(const PolicyConfig&) {
  return OptimizerPtr(std::make_unique<Momentum>(false));
}
Result<OptimizerPtr> MakeNesterov(const PolicyConfig&) {
  return OptimizerPtr(std::make_unique<Momentum>(true));
}

}  // namespace leeway
