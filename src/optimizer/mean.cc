// mean: w = the weighted mean of the iteration's pushes. For push_pull (averaging without a model).
#include "base/policy_config.h"
#include "leeway/optimizer.h"
#include "optimizer/kernels.h"

namespace leeway {
namespace {

class Mean final : public Optimizer {
 public:
  int slots() const override { return 0; }
  bool Step(const StepInput& in, const StepOutput& out) const override {
    return kernels::ScaleInto(out.w, in.g, in.g_scale);
  }
};

}  // namespace

Result<OptimizerPtr> MakeMean(const PolicyConfig&) { return OptimizerPtr(std::make_unique<Mean>()); }

}  // namespace leeway
