#include "sim/workloads/churn.h"

#include <fmt/format.h>

#include <memory>

#include "base/hash.h"
#include "sim/cluster.h"
#include "sim/run_to_end.h"
#include "sim/workloads/churn_books.h"
#include "sim/workloads/churn_life.h"
#include "sim/workloads/churn_plan.h"
#include "sim/workloads/churn_states.h"
#include "sim/workloads/reaper.h"

namespace leeway::sim {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kPlanStream = 41, kDiskStream = 45;

ClusterOptions ClusterFor(const ChurnOptions& given, const ChurnPlan& plan, Disk& disk) {
  ClusterOptions options;
  options.seed = given.seed;
  options.job = plan.job;
  options.faults = given.faults;
  options.link.give_up_after = std::chrono::seconds(10);
  options.suspect_after = milliseconds(300);
  options.expel_after = milliseconds(1200);
  options.on_worker_loss = plan.on_worker_loss;
  options.min_workers = plan.removals > 0 ? 0 : 1;
  if (plan.all_roles) {
    options.shared_disk = &disk;
    options.shared_folder = kChurnCheckpoints;
    options.log_folder = kChurnLog;
    options.checkpoint.folder = kChurnCheckpoints;
    options.checkpoint.every_iterations = plan.checkpoint_every;
    options.checkpoint.limit = std::chrono::seconds(3);
  }
  if (plan.states) {
    options.shared_disk = &disk;
    options.keeps_state = true;
    options.checkpoint.folder = kChurnCheckpoints;
    options.checkpoint.every_iterations = 7;
    options.checkpoint.limit = milliseconds(300);
    options.checkpoint.keep = 1000;
  }
  return options;
}

}  // namespace

ChurnCounts& ChurnCounts::operator+=(const ChurnCounts& other) {
  crashes += other.crashes;
  pauses += other.pauses;
  restarts += other.restarts;
  fenced += other.fenced;
  joined_late += other.joined_late;
  left += other.left;
  gone += other.gone;
  server_crashes += other.server_crashes;
  server_pauses += other.server_pauses;
  server_restarts += other.server_restarts;
  server_usurped += other.server_usurped;
  server_fenced += other.server_fenced;
  scheduler_power_losses += other.scheduler_power_losses;
  scheduler_crashes += other.scheduler_crashes;
  scheduler_pauses += other.scheduler_pauses;
  scheduler_restarts += other.scheduler_restarts;
  slow_disks += other.slow_disks;
  full_disks += other.full_disks;
  resumed += other.resumed;
  lost += other.lost;
  certain += other.certain;
  uncertain += other.uncertain;
  uncertain_taken += other.uncertain_taken;
  checkpoints += other.checkpoints;
  states += other.states;
  states_lacking += other.states_lacking;
  rules_set += other.rules_set;
  rules_unanswered += other.rules_unanswered;
  return *this;
}

std::string ChurnReport::Failure() const { return FailureText(problems, replay, log); }

ChurnReport RunChurn(const ChurnOptions& given) {
  SeededRandom random(Hash64({given.seed, kPlanStream}));
  const ChurnPlan plan = MakeChurnPlan(given, random);
  ChurnBooks books(plan.job.workers);
  Disk disk({}, Hash64({given.seed, kDiskStream}));
  std::vector<std::unique_ptr<WorkloadPart>> parts;
  Reaper* reaper_at = nullptr;
  Cluster* cluster_at = nullptr;

  ClusterOptions options = ClusterFor(given, plan, disk);
  options.may_fail = [&](std::uint32_t rank, const Status& why) {
    auto& life = static_cast<ChurnLife&>(*parts[rank]);
    const bool expected = life.Failed(why, cluster_at->Ended());
    if (life.fenced()) reaper_at->OnFenced(rank);
    return expected;
  };
  Cluster cluster(options);
  Reaper reaper(cluster, plan, random, books, parts, disk);
  reaper_at = &reaper;
  cluster_at = &cluster;
  reaper.Start();
  RunToEnd(
      cluster, parts,
      [&](std::uint32_t rank) { return std::make_unique<ChurnLife>(cluster, plan, given.seed, books, rank); },
      books.problems, std::chrono::seconds(30));
  if (books.problems.empty()) books.Check(cluster, plan);
  if (plan.states) CheckChurnStates(disk, plan, books);
  books.counts.server_fenced = cluster.fenced_shards();

  ChurnReport report;
  report.replay = fmt::format("build/tests/sim/leeway_workload {} --seed {}",
                              given.all_roles ? "faults" : "churn", given.seed);
  if (!given.sync.empty()) report.replay += fmt::format(" --sync {}", given.sync);
  if (!given.faults) report.replay += " --no-faults";
  if (given.states) report.replay += " --states";
  if (given.switches > 0) report.replay += fmt::format(" --switches {}", given.switches);
  report.problems = books.problems;
  if (!report.ok()) report.log = cluster.Log();
  report.trace_hash = cluster.trace().value();
  report.frames = cluster.trace().frames();
  report.counts = books.counts;
  report.servers = cluster.ServerCounters();
  report.faults = cluster.faults();
  report.disk = disk.counters();
  return report;
}

}  // namespace leeway::sim
