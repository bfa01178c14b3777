// Constraint: limits the values of a table. The server applies it to one block at a time, after every run of
// the optimizer and to initial and assigned values.
//
//   clamp:low,high   every value is at least `low` and at most `high`
//
// Stateless and thread-safe.
#pragma once

#include <memory>
#include <span>

#include "base/policy_config.h"
#include "leeway/status.h"

namespace leeway {

class Constraint {
 public:
  virtual ~Constraint() = default;
  // Moves each value outside of the range to the nearest one inside. Finite values stay finite.
  virtual void Apply(std::span<float> values) const = 0;
};

using ConstraintPtr = std::unique_ptr<Constraint>;

[[nodiscard]] Result<ConstraintPtr> MakeConstraint(const PolicyConfig& config);

}  // namespace leeway
