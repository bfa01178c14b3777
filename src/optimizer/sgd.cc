// sgd: torch.optim.SGD without momentum. Weight decay is added to the gradient.
#include "base/policy_config.h"
#include "leeway/optimizer.h"
#include "optimizer/kernels.h"
#include "optimizer/learning_rate.h"

namespace leeway {
namespace {

class Sgd final : public Optimizer {
 public:
  int slots() const override { return 0; }
  bool Step(const StepInput& in, const StepOutput& out) const override {
    return kernels::Sgd(
        {.g_scale = in.g_scale, .lr = static_cast<float>(LearningRate(in)), .decay = in.hyper.weight_decay},
        in.w, in.g, out.w);
  }
};

}  // namespace

Result<OptimizerPtr> MakeSgd(const PolicyConfig&) { return OptimizerPtr(std::make_unique<Sgd>()); }

}  // namespace leeway
