#include "sim/workloads/power_loss.h"

#include <fmt/format.h>

#include <cstring>

#include "base/hash.h"
#include "sim/workloads/newest_checkpoint.h"
#include "sim/workloads/train.h"

namespace leeway::sim {
namespace {

constexpr const char* kFolder = "/checkpoints";
constexpr std::uint64_t kJobLives = 6;

TrainOptions Problem(std::uint64_t seed) {
  TrainOptions options;
  options.problem = 9;
  options.seed = seed;
  options.optimizer = "adam";
  options.workers = 3;
  options.iterations = 120;
  return options;
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

PowerLossReport RunPowerLoss(std::uint64_t seed) {
  PowerLossReport report;
  static const TrainReport calm = RunTrain(Problem(1));  // the same for every seed
  report.problems = calm.problems;
  Disk disk({}, Hash64({seed, 1}));
  for (std::uint64_t life = 0; life < kJobLives && report.ok(); ++life) {
    TrainOptions options = Problem(Hash64({seed, life}));
    options.disk = &disk;
    options.checkpoint.folder = kFolder;
    options.checkpoint.every_iterations = 5;
    // Chosen on short notice, so that shards and workers are past some of the cuts.
    if (seed % 2 == 0) options.checkpoint.every = std::chrono::milliseconds(20);
    options.checkpoint.resume = NewestOn(disk, kFolder);
    options.servers = 1 + static_cast<std::uint32_t>(Hash64({seed, life, 2}) % 3);  // not as many as before
    const auto ms = static_cast<std::int64_t>(100 + Hash64({seed, life, 3}) % 900);
    if (life + 1 < kJobLives) options.power_loss_at = std::chrono::milliseconds(ms);
    const TrainReport train = RunTrain(options);
    const std::string which = fmt::format("seed {} life {}, begun in iteration {}", seed, life, train.began);
    for (const std::string& problem : train.problems)
      report.problems.push_back(fmt::format("{}: {}", which, problem));
    if (train.began > 0) ++report.resumed;
    report.states += train.states;
    if (!train.ended) {
      ++report.losses;
      continue;
    }
    if (!SameBits(train.values, calm.values)) report.problems.push_back(which + ": the values differ");
    break;
  }
  return report;
}

}  // namespace leeway::sim
