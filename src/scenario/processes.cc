#include "scenario/processes.h"

#include <cmath>
#include <cstddef>

#include "sim/nanoseconds.h"

namespace leeway::scenario {
namespace {

constexpr std::size_t kWorkersNamedMax = 4;

// The codes with which nodes and their calls end when peers die, fall silent or declare them dead.
bool MayComeFromAFault(const Status& why) {
  switch (why.code()) {
    case StatusCode::kFenced:
    case StatusCode::kUnavailable:
    case StatusCode::kCancelled:
    case StatusCode::kDeadlineExceeded:
    case StatusCode::kFailedPrecondition:
      return true;
    default:
      return false;
  }
}

}  // namespace

Processes::Processes(sim::Cluster& cluster, const Machines& machines, const Scenario& scenario,
                     problem::Problem& problem, RunBooks& books, std::uint64_t seed)
    : cluster_(cluster),
      machines_(machines),
      scenario_(scenario),
      problem_(problem),
      books_(books),
      seed_(seed),
      workers_(scenario.job.workers) {}

void Processes::Start() {
  for (std::uint32_t i = 0; i < scenario_.job.servers; ++i)
    lives_[{.is_server = true, .index = i}] = {.number = 1, .is_up = true, .is_lost = false};
  cluster_.Start([this](std::uint32_t rank) { OnWorker(rank); });
}

void Processes::OnWorker(std::uint32_t rank) {
  const Member member{.is_server = false, .index = rank};
  Life& life = lives_[member];
  life.is_up = true;
  ++life.number;
  workers_[rank] = std::make_unique<SimulatedWorker>(
      cluster_, machines_, scenario_, problem_, books_, seed_, rank,
      [this, member](const Status& why) { return TakeFailure(member, why); });
  workers_[rank]->Begin(life.number > 1);
}

bool Processes::IsUp(const Member& member) const {
  const auto found = lives_.find(member);
  return found != lives_.end() && found->second.is_up;
}

std::optional<std::uint32_t> Processes::FirstInTraining() const {
  for (std::uint32_t rank = 0; rank < workers_.size(); ++rank) {
    const Member member{.is_server = false, .index = rank};
    if (IsUp(member) && !HasLeft(member)) return rank;
  }
  return std::nullopt;
}

std::vector<std::string> Processes::WhereWorkersAre() const {
  std::vector<std::string> where;
  for (const auto& worker : workers_) {
    if (worker != nullptr && where.size() < kWorkersNamedMax) where.push_back(worker->Where());
  }
  return where;
}

void Processes::Kill(const Member& member, bool comes_back) {
  Life& life = lives_[member];
  ++life.kills;
  if (life.is_lost || HasLeft(member)) return;
  if (life.is_up) End(member);
  if (!comes_back) Lose(member);
}

void Processes::EndKill(const Member& member) {
  --lives_[member].kills;
  Restart(member);
}

bool Processes::HasLeft(const Member& member) const {
  if (member.is_server) return false;
  const std::unique_ptr<SimulatedWorker>& worker = workers_[member.index];
  return worker != nullptr && worker->has_left();
}

void Processes::Restart(const Member& member) {
  const Life& life = lives_[member];
  if (life.is_up || life.is_lost || life.kills > 0) return;
  if (cluster_.SchedulerEnded()) return Lose(member);  // a job that is over takes nobody in
  if (!member.is_server) return cluster_.RestartWorker(member.index);
  lives_[member].is_up = true;
  ++lives_[member].number;
  ++books_.restores;
  cluster_.RestartServer(member.index);
}

bool Processes::TakeFailure(const Member& member, const Status& why) {
  if (scenario_.faults.plan.empty() || !MayComeFromAFault(why)) return false;
  // Later, because the node is still at work in this callback.
  cluster_.queue().After(Duration::zero(), [this, member, number = lives_[member].number] {
    Life& life = lives_[member];
    if (!life.is_up || life.number != number) return;
    const bool had_left = HasLeft(member);
    End(member);
    if (had_left) {
      life.is_lost = true;  // its work is done, and no process follows
      return;
    }
    if (std::isfinite(scenario_.faults.restart_s)) {
      cluster_.queue().After(sim::SecondsAsDuration(scenario_.faults.restart_s),
                             [this, member] { Restart(member); });
    } else {
      Lose(member);
    }
  });
  return true;
}

void Processes::End(const Member& member) {
  lives_[member].is_up = false;
  ++books_.deaths;
  if (member.is_server) return EndServer(member.index);
  std::unique_ptr<SimulatedWorker>& worker = workers_[member.index];
  if (!worker->has_left()) ++books_.lost_workers;
  worker->CloseBooks();
  cluster_.CrashWorker(member.index);
  worker.reset();  // after its node, which uses its parameters
}

void Processes::EndServer(std::uint32_t server) {
  ++books_.lost_servers;
  const BlockCounters before = cluster_.ServerCounters();
  const std::uint64_t withdrawn_before = cluster_.AnswersWithdrawn();
  cluster_.CrashServer(server);
  const BlockCounters after = cluster_.ServerCounters();
  books_.lost_with_servers.taken += before.applied + before.summed - after.applied - after.summed;
  books_.lost_with_servers.late_dropped += before.late_dropped - after.late_dropped;
  books_.lost_with_servers.delayed += before.delayed - after.delayed;
  books_.lost_with_servers.withdrawn += withdrawn_before - cluster_.AnswersWithdrawn();
}

void Processes::Lose(const Member& member) {
  lives_[member].is_lost = true;
  if (member.is_server) return;
  --books_.training;
  --books_.present;
}

}  // namespace leeway::scenario
