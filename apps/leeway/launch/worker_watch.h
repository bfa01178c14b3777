// WorkerWatch: the workers of a launch: their lives, restarts that are due, losses that are not decided yet,
// and workers that outlive the job. Borrows its arguments. Single-threaded.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launch/launch_control.h"
#include "launch/launcher.h"
#include "status/monitor_client.h"
#include "status/worker_lives.h"

namespace leeway::app {

class WorkerWatch {
 public:
  // `how_to_join` names the variables that a worker joins the job with: "LEEWAY_SCHEDULER=...".
  WorkerWatch(const LaunchOptions& options, std::string how_to_join, LaunchControl& control);

  void Start(std::uint32_t rank, LifeBegan began);
  // A process has ended.
  void OnEnded(std::uint32_t rank, const ProcessEnd& end, const JobNow& now);
  // Starts workers that are due, kills stragglers, decides losses.
  void OnTime(const JobNow& now);
  // Forgets restarts that are due: there is no scheduler to join.
  void DropDue() { due_.clear(); }
  // ... and losses, too.
  void DropPending();

  [[nodiscard]] const WorkerLives& lives() const { return lives_; }
  // No worker runs, and none is due.
  [[nodiscard]] bool NoneLeft() const { return control_.Running(JobRole::kWorker) == 0 && due_.empty(); }
  [[nodiscard]] bool IsUndecided() const { return !undecided_.empty(); }
  // Lives that have ended with their processes, as far as the scheduler does not know.
  [[nodiscard]] std::vector<WorkerLife> EndedLives(const JobStatus& status) const;
  // The worker whose end ended the job.
  [[nodiscard]] std::optional<std::uint32_t> failed_rank() const { return failed_rank_; }
  // ... by an error of its script.
  [[nodiscard]] bool script_failed() const { return script_failed_; }

 private:
  struct DueWorker {
    std::uint32_t rank;
    LifeBegan began;
    SteadyClock::time_point at;
    std::string why;  // "restart 1 of 3"
  };
  struct Loss {
    std::uint32_t rank;
    ProcessEnd end;
    SteadyClock::time_point decide_at;
  };

  void OnLost(std::uint32_t rank, const ProcessEnd& end, const JobNow& now);
  // False: it is too early to tell.
  bool Decide(const Loss& loss, const JobNow& now);
  void Fail(const Loss& loss, const std::string& why, const JobNow& now);
  void StartDue(const JobNow& now);
  void EndStragglers(const JobNow& now);
  // A later life that ended without having joined, because the job was over.
  [[nodiscard]] bool CameTooLate(std::uint32_t rank, const ProcessEnd& end, const JobNow& now) const;

  const LaunchOptions& options_;
  const std::string how_to_join_;
  LaunchControl& control_;
  WorkerLives lives_;
  std::vector<DueWorker> due_;
  std::vector<Loss> undecided_;
  std::map<std::uint32_t, std::uint64_t> joined_before_;  // by restarted rank: lives that had joined
  std::optional<SteadyClock::time_point> stragglers_until_;
  std::optional<std::uint32_t> failed_rank_;
  bool script_failed_ = false;
};

}  // namespace leeway::app
