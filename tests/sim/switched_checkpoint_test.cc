// Checkpoints of jobs whose workers skip iterations, and of jobs that switch models while they are written:
// they become complete, and those marked consistent are.
#include <gtest/gtest.h>

#include "base/hash.h"
#include "checkpoint/block_record.h"
#include "checkpoint/layout.h"
#include "checkpoint/manifest.h"
#include "sim/workloads/steps.h"

namespace leeway::sim {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kAll = 1U << 30;
constexpr const char* kFolder = "/checkpoints";

struct Written {
  std::string folder;
  Manifest manifest;
};

std::vector<Written> WholeOn(const Disk& disk) {
  std::vector<Written> whole;
  const auto listed = disk.List(kFolder);
  if (!listed.ok()) return whole;
  for (const std::uint64_t id : CheckpointIds(*listed)) {
    const std::string folder = JoinPath(kFolder, CheckpointName(id));
    const auto bytes = disk.Read(JoinPath(folder, kManifestName), 0, kAll);
    if (!bytes.ok()) continue;  // was not whole when the job ended
    const auto manifest = ReadManifest({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
    EXPECT_TRUE(manifest.ok()) << manifest.status().ToString();
    if (manifest.ok()) whole.push_back({folder, *manifest});
  }
  return whole;
}

StepsOptions WithCheckpoints(Disk& disk, std::uint64_t every) {
  StepsOptions options;
  options.job.servers = 2;
  options.job.shards = 1;
  options.checkpoint.folder = kFolder;
  options.checkpoint.every_iterations = every;
  options.checkpoint.limit = milliseconds(500);
  options.checkpoint.keep = 1000;
  options.disk = &disk;
  return options;
}

// (Such a worker is in the cut's iteration only by chance: when exactly that iteration was required, the
// scheduler chose a new cut again and again, ever further ahead.)
TEST(SwitchedCheckpointTest, OneBecomesWholeUnderDropWithAWorkerThatIsFourTimesSlower) {
  Disk disk({}, 1);
  StepsOptions options = WithCheckpoints(disk, 5);
  options.job.workers = 4;
  options.job.sync = "drop:3";
  options.steps = {100, 100, 100, 40};
  options.compute = [](std::uint32_t rank, std::uint32_t step) {
    return milliseconds(rank == 3 ? 18 + (7 * step) % 9 : 5);  // no rhythm that meets every cut
  };
  const StepsReport report = RunSteps(options);
  for (const std::string& problem : report.problems) ADD_FAILURE() << problem;
  EXPECT_GE(report.counters[3].iterations_skipped, 40U);
  const std::vector<Written> whole = WholeOn(disk);
  std::size_t of_all = 0, beyond = 0;
  for (const Written& written : whole) {
    if (written.manifest.iteration > Iteration(80)) continue;  // some may have left
    ++of_all;
    EXPECT_EQ(written.manifest.ranks.size(), 4U);
    bool all_there = true;
    for (const ManifestRank& rank : written.manifest.ranks) {
      EXPECT_GE(rank.iteration, written.manifest.iteration);
      all_there = all_there && rank.iteration == written.manifest.iteration;
    }
    EXPECT_EQ(written.manifest.consistent, all_there);
    beyond += all_there ? 0 : 1;
  }
  EXPECT_GE(of_all, 10U) << "of 16 that were due";
  EXPECT_GE(beyond, 5U) << "else this shows nothing";
}

// Cells hold 1 plus their worker's pushes: in a consistent cut of iteration C that is at most C times 1.
void ExpectNothingFrom(const Disk& disk, const Written& written, const std::string& where) {
  for (const ManifestTable& table : written.manifest.tables) {
    for (const ManifestBlock& block : table.blocks) {
      const auto bytes = disk.Read(JoinPath(written.folder, written.manifest.files[block.file].name),
                                   block.record.offset, block.record.bytes);
      ASSERT_TRUE(bytes.ok());
      BufferPool pool(0);
      const auto record = DecodeRecord(block.record, *bytes, [&pool](std::size_t floats, Arena::Use use) {
        return pool.Take(floats, use);
      });
      ASSERT_TRUE(record.ok()) << record.status().ToString();
      for (const float value : record->state.values->floats()) {
        EXPECT_LE(value, 1.0F + static_cast<float>(written.manifest.iteration.value()))
            << where << ": block " << block.record.block.value() << " of " << written.folder;
      }
    }
  }
}

TEST(SwitchedCheckpointTest, OneThatSaysItIsConsistentHoldsNothingOfItsIterationAndLaterOnes) {
  std::size_t consistent = 0, fuzzy = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Disk disk({}, seed);
    StepsOptions options = WithCheckpoints(disk, 4);
    options.seed = seed;
    options.job.workers = 3;
    options.job.sync = seed % 2 == 0 ? "bsp" : "asp";
    options.steps = {40, 40, 30};
    SeededRandom random(Hash64({seed, 91}));
    for (int i = 0; i < 8; ++i) {
      const auto rank = static_cast<std::uint32_t>(random.Below(3));
      const char* between[] = {"sync=bsp", "sync=asp", "sync=ssp:2", "server=1 sync=bsp"};
      options.switches.push_back({rank, static_cast<std::int64_t>(random.Below(28)),
                                  random.Chance(0.6) ? between[random.Below(4)] : DrawRule("", random)});
    }
    const StepsReport report = RunSteps(options);
    for (const std::string& problem : report.problems) ADD_FAILURE() << "seed " << seed << ": " << problem;
    for (const Written& written : WholeOn(disk)) {
      ++(written.manifest.consistent ? consistent : fuzzy);
      if (written.manifest.consistent) ExpectNothingFrom(disk, written, "seed " + std::to_string(seed));
    }
    if (HasFailure()) break;
  }
  EXPECT_GE(consistent, 50U);
  EXPECT_GE(fuzzy, 25U);
}

}  // namespace
}  // namespace leeway::sim
