#include "problem/compute_shares.h"

#include <algorithm>
#include <numeric>

namespace leeway::problem {

ComputeShares ComputeSharesOf(std::span<const Table> tables, double forward_share) {
  const bool has_work =
      std::ranges::any_of(tables, [](const Table& table) { return table.multiply_adds > 0; });
  std::vector<double> work;
  work.reserve(tables.size());
  for (const Table& table : tables)
    work.push_back(static_cast<double>(has_work ? table.multiply_adds : table.elements()));
  const double all = std::accumulate(work.begin(), work.end(), 0.0);
  ComputeShares shares;
  for (const double part : work) {
    shares.forward.push_back(forward_share * part / all);
    shares.backward.push_back((1 - forward_share) * part / all);
  }
  return shares;
}

}  // namespace leeway::problem
