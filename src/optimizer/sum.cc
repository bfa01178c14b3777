// sum: w += g as pushed, independent of the learning rate and the scales. For counters and plain tables:
// every push adds exactly its values (times its samples under aggregate).
#include "base/policy_config.h"
#include "leeway/optimizer.h"
#include "optimizer/kernels.h"

namespace leeway {
namespace {

class Sum final : public Optimizer {
 public:
  int slots() const override { return 0; }
  bool Step(const StepInput& in, const StepOutput& out) const override {
    return kernels::Add(out.w, in.w, in.g);
  }
};

}  // namespace

Result<OptimizerPtr> MakeSum(const PolicyConfig&) { return OptimizerPtr(std::make_unique<Sum>()); }

}  // namespace leeway
