#include "sim/workloads/reaper.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/hash.h"
#include "checkpoint/layout.h"

namespace leeway::sim {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kReaperStream = 44;
constexpr int kTriesMax = 40;

// The part of a worker that was killed for good.
class GonePart final : public WorkloadPart {
 public:
  void Begin() override {}
  [[nodiscard]] bool done() const override { return true; }
  [[nodiscard]] std::string Where() const override { return "a worker was killed for good"; }
};

}  // namespace

Reaper::Reaper(Cluster& cluster, const ChurnPlan& plan, SeededRandom& random, ChurnBooks& books,
               std::vector<std::unique_ptr<WorkloadPart>>& parts, Disk& checkpoints)
    : cluster_(cluster),
      plan_(plan),
      random_(random),
      roles_(Hash64({plan.job.seed, kReaperStream})),
      books_(books),
      parts_(parts),
      checkpoints_(checkpoints) {}

void Reaper::Start() {
  for (std::uint32_t i = 0; i < plan_.worker_deeds; ++i) {
    cluster_.queue().After(random_.Between(milliseconds(20), milliseconds(700)), [this] { StrikeWorker(); });
  }
  for (std::uint32_t i = 0; i < plan_.removals; ++i) Plan([this] { return RemoveWorker(); });
  for (std::uint32_t i = 0; i < plan_.server_deeds; ++i) Plan([this] { return StrikeServer(); });
  for (std::uint32_t i = 0; i < plan_.scheduler_deeds; ++i) Plan([this] { return StrikeScheduler(); });
  for (std::uint32_t i = 0; i < plan_.disk_deeds; ++i) Plan([this] { return StrikeDisk(); });
}

void Reaper::Plan(std::function<bool()> strike) {
  cluster_.queue().After(roles_.Between(milliseconds(20), milliseconds(900)),
                         [this, strike = std::move(strike)] { Try(strike, kTriesMax); });
}

void Reaper::Try(const std::function<bool()>& strike, int tries) {
  if (tries == 0 || AllDone() || strike()) return;
  cluster_.queue().After(milliseconds(30), [this, strike, tries] { Try(strike, tries - 1); });
}

bool Reaper::AllDone() const {
  return !parts_.empty() && std::ranges::all_of(parts_, [](const std::unique_ptr<WorkloadPart>& part) {
    return part != nullptr && part->done();
  });
}

void Reaper::OnFenced(std::uint32_t rank) {
  ++books_.counts.fenced;
  cluster_.queue().After(Duration::zero(), [this, rank] { ReplaceWorker(rank); });
}

void Reaper::StrikeWorker() {
  const auto rank = static_cast<std::uint32_t>(random_.Below(plan_.job.workers));
  const bool kill = random_.Chance(0.5);
  const Duration pause = random_.Between(milliseconds(50), milliseconds(2500));
  if (rank >= parts_.size() || parts_[rank] == nullptr || parts_[rank]->done()) return;
  if (books_.lives[rank].size() >= kLivesMax) return;
  if (kill) {
    ++books_.counts.crashes;
    return ReplaceWorker(rank);
  }
  ++books_.counts.pauses;
  if (!books_.lives[rank].empty()) books_.lives[rank].back().stopped = true;
  cluster_.PauseWorker(rank, cluster_.queue().now() + pause);
}

void Reaper::ReplaceWorker(std::uint32_t rank) {
  if (parts_[rank] == nullptr || books_.lives[rank].size() >= kLivesMax) return;
  parts_[rank].reset();
  cluster_.CrashWorker(rank);
  cluster_.queue().After(random_.Between(milliseconds(1), milliseconds(1200)), [this, rank] {
    ++books_.counts.restarts;
    cluster_.RestartWorker(rank);
  });
}

bool Reaper::RemoveWorker() {
  const auto rank = static_cast<std::uint32_t>(roles_.Below(plan_.job.workers));
  if (rank >= parts_.size() || parts_[rank] == nullptr || parts_[rank]->done()) return false;
  const auto others = std::ranges::count_if(
      parts_, [&](const std::unique_ptr<WorkloadPart>& part) { return part != nullptr && !part->done(); });
  if (others < 2 || !HasCheckpoints()) return false;  // not while the job gathers
  ++books_.counts.gone;
  parts_[rank] = std::make_unique<GonePart>();
  cluster_.CrashWorker(rank);
  return true;
}

// Two checkpoints, so that the scheduler knows of one for certain.
bool Reaper::HasCheckpoints() const {
  const Disk& disk = checkpoints_;
  const auto listed = disk.List(kChurnCheckpoints);
  if (!listed.ok()) return false;
  const std::vector<std::uint64_t> ids = CheckpointIds(*listed);
  return std::ranges::count_if(ids, [&disk](std::uint64_t id) {
           const auto files = disk.List(JoinPath(kChurnCheckpoints, CheckpointName(id)));
           return files.ok() && IsComplete(*files);
         }) >= 2;
}

bool Reaper::StrikeServer() {
  const auto server = static_cast<std::uint32_t>(roles_.Below(plan_.job.servers));
  if (!HasCheckpoints() || !cluster_.ServerIsUp(server)) return false;
  const Duration away = roles_.Between(milliseconds(1), milliseconds(1500));
  switch (roles_.Below(3)) {
    case 0:
      ++books_.counts.server_crashes;
      cluster_.CrashServer(server);
      cluster_.queue().After(away, [this, server] {
        if (cluster_.SchedulerEnded()) return;
        ++books_.counts.server_restarts;
        cluster_.RestartServer(server);
      });
      return true;
    case 1:
      ++books_.counts.server_pauses;
      cluster_.PauseServer(server, cluster_.queue().now() + 2 * away);
      return true;
    default:
      // Another process starts in its place while it only stands still.
      ++books_.counts.server_usurped;
      cluster_.PauseServer(server, cluster_.queue().now() + 2 * away);
      cluster_.queue().After(away, [this, server] {
        if (cluster_.SchedulerEnded() || !cluster_.ServerIsUp(server)) return;
        ++books_.counts.server_restarts;
        cluster_.UsurpServer(server);
      });
      return true;
  }
}

bool Reaper::StrikeScheduler() {
  // A paused host stays cut off from the network, and so would a restarted scheduler on it.
  if (!cluster_.scheduler_up() || cluster_.queue().now() < scheduler_stands_until_) return false;
  const Duration away = roles_.Between(milliseconds(1), milliseconds(1500));
  if (roles_.Chance(0.3)) {
    ++books_.counts.scheduler_pauses;
    scheduler_stands_until_ = cluster_.queue().now() + away;
    cluster_.PauseScheduler(scheduler_stands_until_);
    return true;
  }
  if (roles_.Chance(0.5)) {
    ++books_.counts.scheduler_crashes;
    cluster_.CrashScheduler(Cluster::Crash::kProcess);
  } else {
    ++books_.counts.scheduler_power_losses;
    cluster_.CrashScheduler(Cluster::Crash::kPower);
  }
  cluster_.queue().After(away, [this] {
    ++books_.counts.scheduler_restarts;
    cluster_.RestartScheduler();
  });
  return true;
}

bool Reaper::StrikeDisk() {
  Disk& disk = roles_.Chance(0.5) ? checkpoints_ : cluster_.disk(Cluster::scheduler_host());
  const Duration until = roles_.Between(milliseconds(30), milliseconds(500));
  if (roles_.Chance(0.5)) {
    ++books_.counts.slow_disks;
    disk.set_slow(static_cast<double>(roles_.Between(20, 400)));
    cluster_.queue().After(until, [&disk] { disk.set_slow(1); });
  } else {
    ++books_.counts.full_disks;
    disk.set_capacity_bytes(disk.bytes() + roles_.Below(3000));
    cluster_.queue().After(until,
                           [&disk] { disk.set_capacity_bytes(std::numeric_limits<std::uint64_t>::max()); });
  }
  return true;
}

}  // namespace leeway::sim
