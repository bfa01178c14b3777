// NewGhost: the problem `ghost` for tables that are in no layer file, such as those of a run that was
// recorded.
#pragma once

#include <cstdint>
#include <vector>

#include "problem/problem.h"

namespace leeway::problem {

// One element of the problem's stands for `grain` of `model`'s.
[[nodiscard]] ProblemPtr NewGhost(std::vector<Table> model, std::uint32_t grain, std::uint32_t batch);

}  // namespace leeway::problem
