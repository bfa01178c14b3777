// PaceOfIterations: how much longer the job's iterations take than their slowest worker computes.
#pragma once

#include <span>

#include "leeway/env.h"

namespace leeway::scenario {

struct Step;

// Means over the job's iterations from the second on; the first begins with its parameters at hand. Not a
// number if there is no second one.
struct PaceOfIterations {
  // From the first worker's question for parameters to the last worker's last gradient, less the longest
  // computing. With workers that wait for each other, the wait for a slow one counts too: the fast one has
  // asked by then.
  double communication_s = 0;
  // From the last gradient of the iteration before to the last gradient of this one, less the longest
  // computing. Below 0 where iterations overlap.
  double beyond_compute_s = 0;
};

// Iterations that nobody did (a model that skips ahead) do not count.
[[nodiscard]] PaceOfIterations PaceOf(std::span<const Step> steps);

}  // namespace leeway::scenario
