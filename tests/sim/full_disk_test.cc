// The disk runs full at every single write of a job's checkpoints. Training continues, complete checkpoints
// stay complete, the failed one is named, and the job can resume from the newest.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "base/hash.h"
#include "checkpoint/layout.h"
#include "checkpoint/manifest.h"
#include "checkpoint/rank_file.h"
#include "checkpoint/shard_file.h"
#include "sim/workloads/train.h"

namespace leeway::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kFolder = "/checkpoints";
constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

TrainOptions Problem(std::uint64_t seed, Disk& disk) {
  TrainOptions options;
  options.problem = 5;
  options.seed = seed;
  options.optimizer = "adam";
  options.workers = 2;
  options.servers = 2;
  options.shards = 1 + static_cast<std::uint32_t>(seed % 2);
  options.iterations = 18;
  options.faults = false;  // so that every job writes the same three checkpoints
  options.disk = &disk;
  options.checkpoint.folder = kFolder;
  options.checkpoint.every_iterations = 5;
  return options;
}

std::vector<std::byte> ReadAll(const Disk& disk, const std::string& path) {
  auto read = disk.Read(path, 0, kAll);
  EXPECT_TRUE(read.ok()) << read.status().ToString();
  return read.ok() ? *read : std::vector<std::byte>{};
}

// Every byte of a checkpoint that has a manifest; returns its iteration.
std::int64_t ExpectWhole(const Disk& disk, const std::string& checkpoint) {
  const std::vector<std::byte> text = ReadAll(disk, JoinPath(checkpoint, kManifestName));
  const auto manifest = ReadManifest({reinterpret_cast<const char*>(text.data()), text.size()});
  EXPECT_TRUE(manifest.ok()) << checkpoint << ": " << manifest.status().ToString();
  if (!manifest.ok()) return -1;
  for (const ManifestFile& file : manifest->files) {
    const auto info = CheckShardFile(ReadAll(disk, JoinPath(checkpoint, file.name)));
    EXPECT_TRUE(info.ok() && info->bytes == file.bytes && info->checksum == file.checksum) << file.name;
  }
  for (const ManifestRank& rank : manifest->ranks) {
    const auto file = DecodeRankFile(ReadAll(disk, JoinPath(checkpoint, rank.file)));
    EXPECT_TRUE(file.ok() && file->checksum == rank.checksum) << rank.file;
  }
  EXPECT_EQ(manifest->ranks.size(), 2U);
  return manifest->iteration.value();
}

struct Whole {
  std::uint64_t count = 0;
  std::string newest;
  std::int64_t iteration = 0;  // of the newest
};

Whole ExpectAllWhole(const Disk& disk) {
  Whole whole;
  const auto listed = disk.List(kFolder);
  if (!listed.ok()) return whole;
  for (const std::uint64_t id : CheckpointIds(*listed)) {
    const std::string checkpoint = JoinPath(kFolder, CheckpointName(id));
    const auto files = disk.List(checkpoint);
    if (!files.ok() || !IsComplete(*files)) continue;
    ++whole.count;
    whole.newest = checkpoint;
    whole.iteration = ExpectWhole(disk, checkpoint);
  }
  return whole;
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return !a.empty() && a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Fills the disk at one append of a job that `calm` shows undisturbed.
void TryFullAt(std::uint64_t seed, std::uint64_t append, double part, const TrainReport& calm,
               bool one_is_whole) {
  SCOPED_TRACE(fmt::format("seed {}, append {}, {} of its bytes", seed, append, part));
  Disk disk({}, Hash64({seed, 1}));
  disk.FillUpAfter(append, part);
  const TrainReport full = RunTrain(Problem(seed, disk));
  ASSERT_TRUE(full.problems.empty()) << full.problems[0];
  ASSERT_TRUE(SameBits(full.values, calm.values)) << "training was disturbed";
  ASSERT_GE(disk.counters().full_answers, 1U);
  const Whole whole = ExpectAllWhole(disk);
  if (one_is_whole) {
    ASSERT_GE(whole.count, 1U);
  }

  // The status names the failed file.
  ASSERT_THAT(full.status, Not(HasSubstr("\"given_up\":0")));
  ASSERT_THAT(full.status, HasSubstr("No space left on device"));
  ASSERT_THAT(full.status, HasSubstr(kFolder));

  // With room again the job resumes from the newest checkpoint, whatever the full disk left, and writes
  // further ones.
  disk.set_capacity_bytes(kAll);
  TrainOptions again = Problem(seed + 100, disk);
  again.checkpoint.resume = whole.newest;
  const TrainReport resumed = RunTrain(again);
  ASSERT_TRUE(resumed.problems.empty()) << resumed.problems[0];
  ASSERT_EQ(resumed.began, whole.iteration);
  ASSERT_TRUE(SameBits(resumed.values, calm.values));
  ASSERT_THAT(resumed.status, HasSubstr("\"given_up\":0"));
  ExpectAllWhole(disk);
}

TEST(FullDiskTest, AtEveryWriteOfACheckpointTheOneBeforeStays) {
  std::uint64_t cases = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Disk disk({}, Hash64({seed, 1}));
    const TrainReport calm = RunTrain(Problem(seed, disk));
    ASSERT_TRUE(calm.problems.empty()) << calm.problems[0];
    ASSERT_THAT(calm.status, HasSubstr("\"completed\":3"));
    const std::uint64_t appends = disk.counters().appends;
    ASSERT_GE(appends, 50U);
    for (std::uint64_t append = 0; append < appends; ++append) {
      for (const double part : {0.0, 0.3, 0.6, 0.999}) {
        // The first third of the appends belongs to the first checkpoint; all checkpoints have the same
        // number of appends.
        ASSERT_NO_FATAL_FAILURE(TryFullAt(seed, append, part, calm, append >= appends / 3));
        ++cases;
      }
    }
  }
  EXPECT_GE(cases, 1'000U);
}

}  // namespace
}  // namespace leeway::sim
