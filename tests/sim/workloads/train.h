// The train workload: seeded random gradients through a real server-side optimizer under bsp. With
// reduce=ordered the final values depend on the problem alone, bit for bit, under any network fault; without
// it on the order of arrival. The gradients of a rank follow a random state of its own, which only its part
// of checkpoints holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "leeway/env.h"
#include "leeway/options.h"
#include "sim/disk.h"

namespace leeway::sim {

struct TrainOptions {
  std::uint64_t problem = 1;  // seeds the gradients
  std::uint64_t seed = 1;     // seeds everything else: delays, compute times, faults
  std::string apply = "aggregate:reduce=ordered";
  std::string optimizer = "sgd";
  std::uint32_t workers = 4;
  std::uint32_t servers = 2;
  std::uint32_t shards = 2;
  std::uint32_t iterations = 10;
  bool faults = true;
  std::int64_t halve_at = -1;  // in this iteration rank 0 halves all values and the optimizer's state
  CheckpointOptions checkpoint = {};
  Disk* disk = nullptr;                                  // all hosts share it, and it outlives the run
  std::optional<Duration> power_loss_at = std::nullopt;  // everything ends there
};

struct TrainReport {
  std::vector<std::string> problems;  // empty: no problem
  std::vector<float> values;          // of all tables at the end, equal on all ranks
  std::uint64_t trace_hash = 0;
  std::uint64_t cuts = 0;
  bool ended = false;        // not cut short by a loss of power
  std::uint64_t states = 0;  // that ranks gave to checkpoints
  std::int64_t began = 0;    // the iteration that rank 0 began with
  std::string status;        // of the scheduler at the end, as JSON
};

[[nodiscard]] TrainReport RunTrain(const TrainOptions& options);

}  // namespace leeway::sim
