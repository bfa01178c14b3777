#include "optimizer/optimizers.h"

namespace leeway {

#define LW_OPTIMIZER(name, make) Result<OptimizerPtr> make(const PolicyConfig& config);
#include "optimizer/builtin.def"
#undef LW_OPTIMIZER

Registry<Optimizer> BuiltinOptimizers() {
  Registry<Optimizer> optimizers("optimizer");
#define LW_OPTIMIZER(name, make) optimizers.Add(name, make);
#include "optimizer/builtin.def"
#undef LW_OPTIMIZER
  return optimizers;
}

}  // namespace leeway
