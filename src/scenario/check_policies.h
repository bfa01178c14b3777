// CheckPolicies: checks that a job of this scenario would begin: its models, placement, rules and optimizer
// are known and fit each other. It asks a scheduler, so that nothing is checked in two ways. An error names
// the first wrong key, and where it was set.
#pragma once

#include "leeway/status.h"
#include "scenario/scenario.h"

namespace leeway::scenario {

[[nodiscard]] Status CheckPolicies(const Scenario& scenario);

}  // namespace leeway::scenario
