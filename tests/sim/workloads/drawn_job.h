// A job as the death workloads draw it: a model and its apply mode from a list, and the number of nodes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "leeway/options.h"
#include "sim/seeded_random.h"

namespace leeway::sim {

struct DrawnSync {
  const char* sync;
  const char* apply;
};

// `sync`, if given, replaces the drawn model, with its own apply mode. A block has a cell for each of `lives`
// lives of every worker.
[[nodiscard]] JobOptions DrawJob(const std::string& name, std::span<const DrawnSync> choices,
                                 const std::string& sync, std::uint64_t seed, std::uint32_t lives,
                                 SeededRandom& random);

}  // namespace leeway::sim
