// A job that loses all power goes on from its newest checkpoint, and ends with the same bits as one that did
// not.
#include <gtest/gtest.h>

#include <cstring>

#include "base/hash.h"
#include "checkpoint/layout.h"
#include "checkpoint/manifest.h"
#include "sim/workloads/train.h"

namespace leeway::sim {
namespace {

constexpr const char* kFolder = "/checkpoints";

// The newest whole checkpoint on the disk; empty if there is none.
std::string Newest(const Disk& disk) {
  const auto listed = disk.List(kFolder);
  if (!listed.ok()) return "";
  std::vector<FoundCheckpoint> found;
  for (const std::uint64_t id : CheckpointIds(*listed)) {
    const auto files = disk.List(JoinPath(kFolder, CheckpointName(id)));
    found.push_back({id, files.ok() && IsComplete(*files)});
  }
  const auto newest = NewestCheckpoint(found);
  return newest ? JoinPath(kFolder, CheckpointName(*newest)) : "";
}

TrainOptions Problem(std::uint64_t seed) {
  TrainOptions options;
  options.problem = 9;
  options.seed = seed;
  options.optimizer = "adam";
  options.workers = 3;
  options.iterations = 120;
  return options;
}

TEST(CheckpointTest, AfterALossOfPowerAJobEndsWithTheSameBits) {
  const TrainReport calm = RunTrain(Problem(1));
  ASSERT_TRUE(calm.problems.empty()) << calm.problems[0];
  std::uint64_t losses = 0, resumed = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Disk disk({}, Hash64({seed, 1}));
    for (std::uint64_t life = 0; life < 6; ++life) {
      TrainOptions options = Problem(Hash64({seed, life}));
      options.disk = &disk;
      options.checkpoint.folder = kFolder;
      options.checkpoint.every_iterations = 5;
      options.checkpoint.resume = Newest(disk);
      options.servers = 1 + static_cast<std::uint32_t>(Hash64({seed, life, 2}) % 3);  // not as many as before
      const auto ms = static_cast<std::int64_t>(100 + Hash64({seed, life, 3}) % 900);
      if (life < 5) options.power_loss_at = std::chrono::milliseconds(ms);
      const TrainReport report = RunTrain(options);
      ASSERT_TRUE(report.problems.empty())
          << "seed " << seed << " life " << life << ": " << report.problems[0];
      if (report.began > 0) ++resumed;
      if (!report.ended) {
        ++losses;
        continue;
      }
      ASSERT_EQ(report.values.size(), calm.values.size());
      ASSERT_EQ(std::memcmp(report.values.data(), calm.values.data(), calm.values.size() * sizeof(float)), 0)
          << "seed " << seed << " life " << life << " began in iteration " << report.began;
      break;
    }
  }
  EXPECT_GE(losses, 50U);
  EXPECT_GE(resumed, 50U);
}

}  // namespace
}  // namespace leeway::sim
