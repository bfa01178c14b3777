// TimeMaps: lags and waits of every worker by columns of the run's time, for the maps of a report.
#pragma once

#include <cstdint>

#include "scenario/run_books.h"
#include "scenario/run_record.h"

namespace leeway::scenario {

// How many iterations each worker is behind the one that is furthest, in the middle of each column. Not a
// number where the worker has not begun, or has done its last iteration.
[[nodiscard]] TimeMap LagOf(const RunBooks& books, std::uint32_t workers, std::uint32_t columns,
                            double seconds);
// The share of each column that the worker waited, of the time in which it trained; 1 for a column within one
// long wait. Not a number where it did not train.
[[nodiscard]] TimeMap WaitsOf(const RunBooks& books, std::uint32_t workers, std::uint32_t columns,
                              double seconds);

}  // namespace leeway::scenario
