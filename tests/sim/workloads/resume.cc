#include "sim/workloads/resume.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "checkpoint/layout.h"
#include "checkpoint/manifest.h"
#include "sim/disk.h"
#include "sim/workloads/newest_checkpoint.h"
#include "sim/workloads/resume_worker.h"

namespace leeway::sim {
namespace {

using std::chrono::milliseconds;

constexpr const char* kResumeFolder = "/checkpoints";
constexpr std::uint64_t kResumeJobLives = 5;
constexpr std::uint64_t kResumePlan = 62, kResumeStrikes = 63, kResumeDisk = 64;
// The model, and behind the bar an apply mode other than its default.
constexpr const char* kResumeSyncs[] = {"bsp",    "asp",     "ssp:2",           "ssp:6",        "pssp:2,0.5",
                                        "drop:2", "psp:2,5", "ssp:2|aggregate", "bsp|immediate"};

ResumePlan MakeResumePlan(const ResumeOptions& given, SeededRandom& random) {
  ResumePlan plan;
  std::string sync = kResumeSyncs[random.Below(std::size(kResumeSyncs))];
  if (!given.sync.empty()) sync = given.sync;
  if (const std::size_t bar = sync.find('|'); bar != std::string::npos) {
    plan.job.apply = sync.substr(bar + 1);
    sync.resize(bar);
  }
  plan.job.job = "resume";
  plan.job.sync = sync;
  plan.skips = sync.starts_with("drop") || sync.starts_with("psp");
  plan.job.workers = static_cast<std::uint32_t>(random.Between(2, 4));
  // Fixed bugs keep their seeds, and a seed means the same run only with the same placement.
  plan.job.placement = "round_robin";
  plan.job.seed = given.seed;
  plan.iterations = static_cast<std::int64_t>(random.Between(40, 80));
  plan.blocks = static_cast<std::uint32_t>(random.Between(2, 5));
  if (random.Chance(0.5)) plan.batches = plan.job.workers * static_cast<std::uint64_t>(plan.iterations);
  plan.job.block_bytes = static_cast<std::uint32_t>(plan.cells() * sizeof(float));
  return plan;
}

// The manifest of a checkpoint; nullopt if it cannot be read.
std::optional<Manifest> ManifestIn(const Disk& disk, const std::string& checkpoint) {
  const auto bytes = disk.Read(JoinPath(checkpoint, kManifestName), 0, std::uint64_t{1} << 30);
  if (!bytes.ok()) return std::nullopt;
  const auto manifest = ReadManifest({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  return manifest.ok() ? std::optional(*manifest) : std::nullopt;
}

// One job life: from its start, or from a checkpoint, to its end or to the loss of all power.
class JobLife {
 public:
  JobLife(const ResumePlan& plan, std::uint64_t seed, Disk& disk, ResumeReport& report)
      : plan_(plan), seed_(seed), disk_(disk), report_(report), random_(Hash64({seed, kResumeStrikes})) {}

  // Returns whether the job has ended well.
  bool Run(bool last) {
    ClusterOptions options = OptionsFor(NewestOn(disk_, kResumeFolder));
    options.may_fail = [this](std::uint32_t rank, const Status& why) {
      return static_cast<ResumeWorker&>(*parts_[rank]).Failed(why);
    };
    Cluster cluster(options);
    if (!last) {
      cluster.queue().At(random_.Between(milliseconds(60), milliseconds(900)), [this] {
        disk_.PowerLoss();
        dark_ = true;
        report_.problems.emplace_back("the power is gone");
      });
    }
    for (std::uint64_t strikes = random_.Below(3); strikes > 0; --strikes) {
      cluster.queue().After(random_.Between(milliseconds(40), milliseconds(500)),
                            [this, &cluster] { Strike(cluster); });
    }
    RunToEnd(
        cluster, parts_,
        [&](std::uint32_t rank) {
          return std::make_unique<ResumeWorker>(cluster, plan_, Hash64({seed_, lives_++}), rank,
                                                report_.problems);
        },
        report_.problems, std::chrono::seconds(60));
    report_.frames += cluster.trace().frames();
    report_.trace_hash = Hash64({report_.trace_hash, cluster.trace().value()});
    if (dark_) {
      report_.problems.clear();
      ++report_.counts.power_losses;
      return false;
    }
    if (report_.ok()) Check(cluster);
    if (!report_.ok()) report_.log = cluster.Log();
    return true;
  }

 private:
  ClusterOptions OptionsFor(const std::string& checkpoint) {
    ClusterOptions options;
    options.seed = seed_;
    options.job = plan_.job;
    options.job.servers = static_cast<std::uint32_t>(random_.Between(1, 3));
    options.faults = random_.Chance(0.5);
    options.suspect_after = milliseconds(300);
    options.expel_after = milliseconds(1200);
    options.min_workers = 1;
    options.shared_disk = &disk_;
    options.keeps_state = random_.Chance(0.5);
    options.checkpoint.folder = kResumeFolder;
    options.checkpoint.limit = std::chrono::seconds(3);
    if (random_.Chance(0.5)) {
      options.checkpoint.every_iterations = random_.Between(3, 12);
    } else {
      options.checkpoint.every = milliseconds(random_.Between(20, 80));
    }
    if (checkpoint.empty()) return options;
    options.checkpoint.resume = checkpoint;
    const std::optional<Manifest> manifest = ManifestIn(disk_, checkpoint);
    if (!manifest) report_.problems.push_back(checkpoint + ": its manifest cannot be read");
    if (!manifest) return options;
    ++report_.counts.resumed;
    if (!manifest->exact) ++report_.counts.fuzzy;
    if (std::ranges::min(manifest->begins) < std::ranges::max(manifest->begins)) ++report_.counts.uneven;
    for (const ManifestPool& pool : manifest->pools) report_.counts.reopened += pool.open.size();
    return options;
  }

  // Strikes a worker, a server, or both at once; each restarts a little later.
  void Strike(Cluster& cluster) {
    const std::uint64_t what = random_.Below(3);
    const auto rank = static_cast<std::uint32_t>(random_.Below(plan_.job.workers));
    const auto server = static_cast<std::uint32_t>(random_.Below(cluster.ElementsOfServers().size()));
    const Duration pause = random_.Between(milliseconds(1), milliseconds(800));
    const bool alive = rank < parts_.size() && parts_[rank] != nullptr && !parts_[rank]->done();
    const bool up = !NewestOn(disk_, kResumeFolder).empty() && cluster.ServerIsUp(server);
    if (what != 1 && alive) {
      ++report_.counts.worker_kills;
      parts_[rank].reset();
      cluster.CrashWorker(rank);
      cluster.queue().After(pause, [&cluster, rank] { cluster.RestartWorker(rank); });
    }
    if (what != 0 && up) {
      ++report_.counts.server_kills;
      servers_died_ = true;
      if (what == 2 && alive) ++report_.counts.both_killed;
      cluster.CrashServer(server);
      cluster.queue().After(pause / 2, [&cluster, server] {
        if (!cluster.SchedulerEnded()) cluster.RestartServer(server);
      });
    }
  }

  void Check(const Cluster& cluster) {
    ResumeCounts& counts = report_.counts;
    const HeldPushes::Lacking lacking = cluster.scheduler().Lacking();
    const std::uint64_t reported = lacking.lost + lacking.torn;
    std::vector<std::uint64_t> holders(plan_.cells());  // blocks that hold a cell
    for (std::uint32_t id = 0; id < plan_.blocks; ++id) {
      const Block* block = cluster.FindBlock(BlockId(id));
      // A server that was killed after all workers had their final values does not restart, or the job is
      // over before it has read its blocks.
      if (block == nullptr && servers_died_) return;
      if (block == nullptr || block->values().size() != plan_.cells())
        return report_.problems.push_back(fmt::format("block {}: no values at the end", id));
      for (std::size_t cell = 0; cell < plan_.cells(); ++cell) {
        const float value = block->values()[cell];
        holders[cell] += value > 0 ? 1 : 0;
        if (value <= 1) continue;
        ++counts.doubled;
        report_.problems.push_back(fmt::format("block {}: cell {} was counted {} times", id, cell, value));
      }
    }
    counts.counted += plan_.cells() * plan_.blocks;
    std::uint64_t missing = 0;
    for (const std::uint64_t held : holders) {
      // Some blocks may drop a push as late. No life repeats an iteration of a rank that its next life has
      // passed, but every batch is done.
      if (!plan_.skips && (held > 0 || plan_.batches > 0)) missing += plan_.blocks - held;
    }
    counts.missing += missing;
    counts.reported += reported;
    if (missing <= reported) return;
    counts.unreported += missing - reported;
    report_.problems.push_back(
        fmt::format("{} pushes are missing, and {} were reported lost", missing, reported));
  }

  const ResumePlan& plan_;
  const std::uint64_t seed_;
  Disk& disk_;
  ResumeReport& report_;
  SeededRandom random_;
  std::vector<std::unique_ptr<WorkloadPart>> parts_;
  std::uint64_t lives_ = 0;
  bool servers_died_ = false;
  bool dark_ = false;
};

}  // namespace

ResumeCounts& ResumeCounts::operator+=(const ResumeCounts& other) {
  for (const auto& [name, count] : kNamed) this->*count += other.*count;
  return *this;
}

std::string ResumeReport::Failure() const { return FailureText(problems, replay, log); }

ResumeReport RunResume(const ResumeOptions& options) {
  ResumeReport report;
  report.replay = fmt::format("build/tests/sim/leeway_workload resume --seed {}", options.seed);
  if (!options.sync.empty()) report.replay += fmt::format(" --sync {}", options.sync);
  SeededRandom random(Hash64({options.seed, kResumePlan}));
  const ResumePlan plan = MakeResumePlan(options, random);
  if (plan.batches > 0) ++report.counts.pools;
  Disk disk({}, Hash64({options.seed, kResumeDisk}));
  for (std::uint64_t life = 0; life < kResumeJobLives; ++life) {
    JobLife job(plan, Hash64({options.seed, life}), disk, report);
    if (job.Run(life + 1 == kResumeJobLives)) break;
  }
  if (!report.ok()) {
    report.problems.insert(
        report.problems.begin(),
        fmt::format("{} workers under {} {}, {} blocks of {} cells{}", plan.job.workers, plan.job.sync,
                    plan.job.apply, plan.blocks, plan.cells(), plan.batches > 0 ? ", from a pool" : ""));
  }
  return report;
}

}  // namespace leeway::sim
