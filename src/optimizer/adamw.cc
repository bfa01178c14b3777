// adamw: torch.optim.AdamW. Weight decay shrinks the values and stays out of the moments.
#include "base/policy_config.h"
#include "leeway/optimizer.h"
#include "optimizer/adam_step.h"

namespace leeway {
namespace {

class AdamW final : public Optimizer {
 public:
  int slots() const override { return 2; }
  bool Step(const StepInput& in, const StepOutput& out) const override {
    return kernels::Adam(AdamStepOf(in, Decay::kDecoupled), in.w, in.g, in.slots[0], in.slots[1], out.w,
                         out.slots[0], out.slots[1]);
  }
};

}  // namespace

Result<OptimizerPtr> MakeAdamW(const PolicyConfig&) { return OptimizerPtr(std::make_unique<AdamW>()); }

}  // namespace leeway
