// What Python reads and sets of tables outside of any iteration, as copies from and to tensors of its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "leeway/worker.h"

namespace leeway {

// Whether there was something to copy. REQUIRES (all): spans of as many floats as the table has.
[[nodiscard]] Result<bool> ReadValuesTo(Worker& worker, TableId table, std::span<float> values,
                                        bool even_if_known);
// How often the optimizer has run. An error unless it has as many arrays as are given.
[[nodiscard]] Result<std::uint64_t> ReadStateTo(Worker& worker, TableId table,
                                                const std::vector<std::span<float>>& arrays);
[[nodiscard]] Status WriteStateFrom(Worker& worker, TableId table, std::uint64_t steps,
                                    const std::vector<std::span<float>>& arrays);

}  // namespace leeway
