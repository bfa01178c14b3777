#include "optimizer/make_optimizer.h"

#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/policy_config.h"
#include "base/spec.h"
#include "optimizer/constraint.h"

namespace leeway {
namespace {

class Constrained final : public Optimizer {
 public:
  Constrained(OptimizerPtr inner, std::vector<ConstraintPtr> constraints)
      : inner_(std::move(inner)), constraints_(std::move(constraints)) {}
  int slots() const override { return inner_->slots(); }
  float initial(int slot) const override { return inner_->initial(slot); }
  bool whole_table() const override { return inner_->whole_table(); }
  bool Step(const StepInput& in, const StepOutput& out) const override {
    const bool finite = inner_->Step(in, out);
    Constrain(out.w);
    return finite;
  }
  void Constrain(std::span<float> values) const override {
    for (const ConstraintPtr& constraint : constraints_) constraint->Apply(values);
  }

 private:
  const OptimizerPtr inner_;
  const std::vector<ConstraintPtr> constraints_;
};

}  // namespace

Result<OptimizerPtr> MakeOptimizer(const Registry<Optimizer>& optimizers, std::string_view spec,
                                   std::string* resolved) {
  LW_ASSIGN_OR_RETURN(const Spec parsed, ParseSpec(spec));
  Spec printed;
  std::vector<ConstraintPtr> constraints;
  OptimizerPtr optimizer;
  for (const SpecTerm& term : parsed.terms) {
    const bool first = optimizer == nullptr;
    const PolicyConfig config(first ? optimizers.kind() : "constraint", term);
    if (first) {
      LW_ASSIGN_OR_RETURN(optimizer, optimizers.Make(config));
      if (optimizer->slots() < 0 || optimizer->slots() > kOptimizerSlotsMax) {
        return InvalidArgument("optimizer \"{}\" has {} arrays of state, wanted 0 to {}", term.name,
                               optimizer->slots(), kOptimizerSlotsMax);
      }
    } else {
      LW_ASSIGN_OR_RETURN(ConstraintPtr constraint, MakeConstraint(config));
      constraints.push_back(std::move(constraint));
    }
    LW_RETURN_IF_ERROR(config.Finish());
    printed.terms.push_back(config.resolved());
  }
  if (resolved != nullptr) *resolved = PrintSpec(printed);
  if (constraints.empty()) return optimizer;
  return OptimizerPtr(std::make_unique<Constrained>(std::move(optimizer), std::move(constraints)));
}

}  // namespace leeway
