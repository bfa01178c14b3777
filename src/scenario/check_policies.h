// CheckPolicies: whether a job of this scenario would begin: its models, placement, rules and optimizer are
// known and fit each other. As its scheduler says, so that nothing is checked in two ways. An error names the
// first key that such a job does not begin with, and where it was said.
#pragma once

#include "leeway/status.h"
#include "scenario/scenario.h"

namespace leeway::scenario {

[[nodiscard]] Status CheckPolicies(const Scenario& scenario);

}  // namespace leeway::scenario
