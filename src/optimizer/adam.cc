// adam: torch.optim.Adam. Weight decay is added to the gradient.
#include "base/policy_config.h"
#include "leeway/optimizer.h"
#include "optimizer/adam_step.h"

namespace leeway {
namespace {

class Adam final : public Optimizer {
 public:
  int slots() const override { return 2; }
  bool Step(const StepInput& in, const StepOutput& out) const override {
    return kernels::Adam(AdamStepOf(in, Decay::kInGradient), in.w, in.g, in.slots[0], in.slots[1], out.w,
                         out.slots[0], out.slots[1]);
  }
};

}  // namespace

Result<OptimizerPtr> MakeAdam(const PolicyConfig&) { return OptimizerPtr(std::make_unique<Adam>()); }

}  // namespace leeway
