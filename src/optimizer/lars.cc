// lars: layer-wise adaptive rate scaling (You, Gitman and Ginsburg, 2017) on top of torch.optim.SGD with
// momentum. The gradient with its weight decay is multiplied by trust * |w| / (|g| + weight_decay * |w| +
// eps), with norms over the whole table, so such a table is one block. 1 where a norm is 0.
//   trust     the trust coefficient
//   nesterov  1: nesterov's momentum
//   excluded  1: neither the ratio nor weight decay, as is usual for biases and the parameters of norm
//   layers.
//             The creator of the table says so, because a server does not know the purpose of a block.
#include <cmath>

#include "base/policy_config.h"
#include "leeway/optimizer.h"
#include "optimizer/kernels.h"
#include "optimizer/learning_rate.h"

namespace leeway {
namespace {

class Lars final : public Optimizer {
 public:
  Lars(double trust, bool nesterov, bool excluded)
      : trust_(trust), nesterov_(nesterov), excluded_(excluded) {}
  int slots() const override { return 1; }
  bool whole_table() const override { return !excluded_; }
  bool Step(const StepInput& in, const StepOutput& out) const override {
    return kernels::Momentum({.g_scale = in.g_scale,
                              .lr = static_cast<float>(LearningRate(in)),
                              .decay = excluded_ ? 0.0F : in.hyper.weight_decay,
                              .mu = in.hyper.momentum,
                              .keep = 1.0F - in.hyper.dampening,
                              .trust = excluded_ ? 1.0F : static_cast<float>(Ratio(in)),
                              .first = in.step == 1,
                              .nesterov = nesterov_},
                             in.w, in.g, in.slots[0], out.w, out.slots[0]);
  }

 private:
  // A norm that is not finite makes the ratio 0 or NaN; the kernel then reports the value behind it.
  [[nodiscard]] double Ratio(const StepInput& in) const {
    const double w = std::sqrt(kernels::SumOfSquares(in.w));
    const double g = std::sqrt(kernels::SumOfSquares(in.g)) * std::abs(static_cast<double>(in.g_scale));
    if (w == 0.0 || g == 0.0) return 1.0;
    const double decay = in.hyper.weight_decay, eps = in.hyper.eps;
    return trust_ * w / (g + decay * w + eps);
  }

  const double trust_;
  const bool nesterov_, excluded_;
};

}  // namespace

Result<OptimizerPtr> MakeLars(const PolicyConfig& config) {
  LW_ASSIGN_OR_RETURN(const double trust, config.DoubleInRange("trust", 1e-12, 1e6, 0.001));
  LW_ASSIGN_OR_RETURN(const std::int64_t nesterov, config.IntInRange("nesterov", 0, 1, 0));
  LW_ASSIGN_OR_RETURN(const std::int64_t excluded, config.IntInRange("excluded", 0, 1, 0));
  return OptimizerPtr(std::make_unique<Lars>(trust, nesterov == 1, excluded == 1));
}

}  // namespace leeway
