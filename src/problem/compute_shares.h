// ComputeShares: how the compute time of one training step divides among the tables of a model.
#pragma once

#include <span>
#include <vector>

#include "problem/problem.h"

namespace leeway::problem {

// Parts of one step's compute time, by table in the order of a forward pass. All parts together are 1.
struct ComputeShares {
  std::vector<double> forward;   // from the use of the table to the use of the next one
  std::vector<double> backward;  // until the table's gradient is ready, after that of the next table
};

// A backward pass takes twice the multiply-adds of a forward pass: it computes gradients of inputs and of
// weights.
inline constexpr double kForwardShare = 1.0 / 3;

// Divides both passes in proportion to multiply-adds, or to elements if no table says its multiply-adds.
// REQUIRES: `forward_share` from 0 to 1.
[[nodiscard]] ComputeShares ComputeSharesOf(std::span<const Table> tables,
                                            double forward_share = kForwardShare);

}  // namespace leeway::problem
