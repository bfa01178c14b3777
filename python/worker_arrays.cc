#include "worker_arrays.h"

#include <algorithm>

#include "base/errors.h"

namespace leeway {

Result<bool> ReadValuesTo(Worker& worker, TableId table, std::span<float> values, bool even_if_known) {
  LW_ASSIGN_OR_RETURN(const std::vector<float> got, worker.ReadValues(table, even_if_known));
  std::copy_n(got.begin(), std::min(got.size(), values.size()), values.begin());
  return !got.empty();
}

Result<std::uint64_t> ReadStateTo(Worker& worker, TableId table,
                                  const std::vector<std::span<float>>& arrays) {
  LW_ASSIGN_OR_RETURN(const TableState state, worker.ReadState(table));
  if (state.arrays.size() != arrays.size()) {
    return FailedPrecondition("the optimizer's state of table {}: got {} arrays, wanted {}", table.value(),
                              state.arrays.size(), arrays.size());
  }
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const std::vector<float>& from = state.arrays[i];
    std::copy_n(from.begin(), std::min(from.size(), arrays[i].size()), arrays[i].begin());
  }
  return state.steps;
}

Status WriteStateFrom(Worker& worker, TableId table, std::uint64_t steps,
                      const std::vector<std::span<float>>& arrays) {
  TableState state{.steps = steps, .arrays = {}};
  for (const std::span<float> from : arrays) state.arrays.emplace_back(from.begin(), from.end());
  return worker.WriteState(table, state);
}

}  // namespace leeway
