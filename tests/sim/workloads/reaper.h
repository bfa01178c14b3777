// Reaper: strikes the nodes of a churn run at drawn times. It kills, stops and restarts workers; also
// servers, if checkpoints are written, and the scheduler, if it keeps a log. It makes disks slow and full for
// a while.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "sim/cluster.h"
#include "sim/run_to_end.h"
#include "sim/workloads/churn_books.h"
#include "sim/workloads/churn_plan.h"

namespace leeway::sim {

class Reaper {
 public:
  // Borrows all arguments.
  Reaper(Cluster& cluster, const ChurnPlan& plan, SeededRandom& random, ChurnBooks& books,
         std::vector<std::unique_ptr<WorkloadPart>>& parts, Disk& checkpoints);

  void Start();
  // A life learned that it is over: its process ends and another starts.
  void OnFenced(std::uint32_t rank);

 private:
  void StrikeWorker();
  void ReplaceWorker(std::uint32_t rank);
  // Kills a worker for good, if other workers remain.
  bool RemoveWorker();
  // False: not now, because no successor could take its place yet.
  bool StrikeServer();
  bool StrikeScheduler();
  bool StrikeDisk();
  // Calls `strike` at a drawn time, and again a little later as long as it returns false.
  void Plan(std::function<bool()> strike);
  void Try(const std::function<bool()>& strike, int tries);
  [[nodiscard]] bool HasCheckpoints() const;
  [[nodiscard]] bool AllDone() const;

  Cluster& cluster_;
  const ChurnPlan& plan_;
  SeededRandom& random_;  // of the strikes at workers; the others' draws are apart
  SeededRandom roles_;
  Duration scheduler_stands_until_{0};
  ChurnBooks& books_;
  std::vector<std::unique_ptr<WorkloadPart>>& parts_;
  Disk& checkpoints_;
};

}  // namespace leeway::sim
