// NewGhost: the problem `ghost` for tables outside of the layer files, such as those of a recorded run.
#pragma once

#include <cstdint>
#include <vector>

#include "problem/problem.h"

namespace leeway::problem {

// One element of the problem stands for `grain` elements of `model`.
[[nodiscard]] ProblemPtr NewGhost(std::vector<Table> model, std::uint32_t grain, std::uint32_t batch);

}  // namespace leeway::problem
