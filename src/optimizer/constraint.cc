#include "optimizer/constraint.h"

#include <algorithm>

#include "base/errors.h"

namespace leeway {
namespace {

constexpr double kBoundMax = 1e30;

class Clamp final : public Constraint {
 public:
  Clamp(float low, float high) : low_(low), high_(high) {}
  void Apply(std::span<float> values) const override {
    for (float& value : values) value = std::clamp(value, low_, high_);
  }

 private:
  const float low_, high_;
};

}  // namespace

Result<ConstraintPtr> MakeConstraint(const PolicyConfig& config) {
  if (config.name() != "clamp") return config.UnknownName({"clamp"});
  LW_ASSIGN_OR_RETURN(const double low, config.DoubleInRange("low", -kBoundMax, kBoundMax));
  LW_ASSIGN_OR_RETURN(const double high, config.DoubleInRange("high", low, kBoundMax));
  return ConstraintPtr(std::make_unique<Clamp>(static_cast<float>(low), static_cast<float>(high)));
}

}  // namespace leeway
