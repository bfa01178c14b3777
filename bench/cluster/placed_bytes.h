// PlacedBytes: how many bytes of a model each server of a job has.
#pragma once

#include <span>
#include <vector>

#include "leeway/options.h"
#include "leeway/status.h"
#include "problem/problem.h"

namespace leeway::bench {

// As the scheduler of such a job cuts and places the tables; one shard for each server.
[[nodiscard]] Result<std::vector<double>> PlacedBytes(const JobOptions& job,
                                                      std::span<const problem::Table> tables);

}  // namespace leeway::bench
