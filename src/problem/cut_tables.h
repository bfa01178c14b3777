// CutTables: the same model with each tensor in several parts, each a table of its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "problem/problem.h"

namespace leeway::problem {

inline constexpr std::uint32_t kCutMax = 64;  // parts of a table

// Each table gives `parts` tables of equal size, or of sizes that differ by one element; a table of fewer
// elements gives one for each. The last part has all multiply-adds: a layer computes once all of it is here,
// and all its parts are ready when it has. REQUIRES: at least one part.
[[nodiscard]] std::vector<Table> CutTables(std::span<const Table> tables, std::uint32_t parts);

}  // namespace leeway::problem
