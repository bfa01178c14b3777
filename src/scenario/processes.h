// Processes: the processes of one simulated job. It drives the worker of each rank, ends processes when
// faults say so, and starts others in their places, as a launcher does.
//
// Thread rule: that of the cluster. Lifetime rule: it outlives the cluster's events.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "problem/problem.h"
#include "scenario/disturbance.h"
#include "scenario/machines.h"
#include "scenario/run_books.h"
#include "scenario/scenario.h"
#include "scenario/simulated_worker.h"
#include "sim/cluster.h"

namespace leeway::scenario {

class Processes {
 public:
  // Borrows all of them. `seed` is the run's.
  Processes(sim::Cluster& cluster, const Machines& machines, const Scenario& scenario,
            problem::Problem& problem, RunBooks& books, std::uint64_t seed);

  void Start();
  // Ends the process of a member, if one runs, and keeps the member down. A worker that has done its last
  // iteration goes on. EndKill follows if it `comes_back`. REQUIRES: not called from inside a callback of the
  // node.
  void Kill(const Member& member, bool comes_back);
  // Starts another process in the place of a member, when the last of the kills that overlap has ended.
  void EndKill(const Member& member);
  // A node has failed. Returns whether a fault may be the cause: then the process ends, and another one
  // starts after faults.restart_s.
  bool TakeFailure(const Member& member, const Status& why);

  // Whether a process of this member runs.
  [[nodiscard]] bool IsUp(const Member& member) const;
  // The lowest rank whose process runs and has not done its last iteration; nullopt: there is no such rank.
  [[nodiscard]] std::optional<std::uint32_t> FirstInTraining() const;
  // Where workers are and what they wait for: the first few.
  [[nodiscard]] std::vector<std::string> WhereWorkersAre() const;

 private:
  // The process of one member.
  struct Life {
    std::uint32_t number = 0;  // processes started so far
    bool is_up = false;
    bool is_lost = false;     // it does not come back
    std::uint32_t kills = 0;  // under way; no process starts before they have ended
  };
  void OnWorker(std::uint32_t rank);
  // Whether the process of this member is a worker that has done its last iteration.
  [[nodiscard]] bool HasLeft(const Member& member) const;
  // Starts another process in the place of a member, unless one is there, a kill keeps it down, or the job is
  // over.
  void Restart(const Member& member);
  void End(const Member& member);
  void EndServer(std::uint32_t server);
  // No process follows in the place of this one.
  void Lose(const Member& member);

  sim::Cluster& cluster_;
  const Machines& machines_;
  const Scenario& scenario_;
  problem::Problem& problem_;
  RunBooks& books_;
  const std::uint64_t seed_;
  std::map<Member, Life> lives_;
  std::vector<std::unique_ptr<SimulatedWorker>> workers_;  // by rank; null: no process runs
};

}  // namespace leeway::scenario
