// Copies values and optimizer state of tables to and from Python's tensors, outside any iteration.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "leeway/worker.h"

namespace leeway {

// False if the servers had nothing newer. REQUIRES (all): spans of as many floats as the table has.
[[nodiscard]] Result<bool> ReadValuesTo(Worker& worker, TableId table, std::span<float> values,
                                        bool even_if_known);
// Returns how often the optimizer has run. An error unless it has as many arrays as `arrays`.
[[nodiscard]] Result<std::uint64_t> ReadStateTo(Worker& worker, TableId table,
                                                const std::vector<std::span<float>>& arrays);
[[nodiscard]] Status WriteStateFrom(Worker& worker, TableId table, std::uint64_t steps,
                                    const std::vector<std::span<float>>& arrays);

}  // namespace leeway
