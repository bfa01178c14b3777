#include "sim/workloads/drawn_job.h"

namespace leeway::sim {

JobOptions DrawJob(const std::string& name, std::span<const DrawnSync> choices, const std::string& sync,
                   std::uint64_t seed, std::uint32_t lives, SeededRandom& random) {
  JobOptions job;
  const DrawnSync choice = choices[random.Below(choices.size())];
  job.job = name;
  job.workers = static_cast<std::uint32_t>(random.Between(2, 4));
  job.servers = static_cast<std::uint32_t>(random.Between(1, 2));
  job.shards = static_cast<std::uint32_t>(random.Between(1, 2));
  job.sync = sync.empty() ? choice.sync : sync;
  job.apply = sync.empty() ? choice.apply : "";
  // Fixed bugs keep their seeds, and a seed means the same run only with the same placement.
  job.placement = "round_robin";
  job.seed = seed;
  job.block_bytes = static_cast<std::uint32_t>(job.workers * lives * sizeof(float));
  return job;
}

}  // namespace leeway::sim
