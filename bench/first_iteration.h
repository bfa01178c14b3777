// How long a model takes to reach all workers: rank 0 gives all its values, and every worker has them.
//
// Beside it, in the same run, what it takes to copy the model once per worker: as many processes on the same
// cores, at the same time, into fresh memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "figures.h"
#include "leeway/status.h"

namespace leeway::bench {

struct FirstIterationOptions {
  std::string transport = "auto";
  std::uint64_t model_bytes = 1ULL << 30;
  std::uint32_t workers = 4, servers = 1;
  std::uint32_t repeats = 3;
};

struct FirstIterationReport {
  FirstIterationOptions options;
  Figure leeway_s;  // from the first Broadcast to the last Sync of the last worker
  Figure copy_s;    // from the first byte to the last, into fresh memory
  // The same into memory that was touched before, as the workers' buffers are: they are made before Start.
  Figure touched_copy_s;
  Figure ratio, touched_ratio;  // to the one and to the other, turn by turn
};

// Of the model: so many tables of equal size, in blocks of 4 MiB.
inline constexpr std::uint64_t kModelTables = 16;
[[nodiscard]] Status Check(const FirstIterationOptions& options);
// Forks: call it before the process has threads.
[[nodiscard]] Result<FirstIterationReport> RunFirstIteration(const FirstIterationOptions& options);

}  // namespace leeway::bench
