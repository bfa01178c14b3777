// RoleWatch: the scheduler and the servers of a launch: when each was started, losses that are not decided
// yet, and restarts that are due. Borrows its arguments. Single-threaded.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "launch/job_checkpoints.h"
#include "launch/launch_control.h"
#include "launch/launcher.h"
#include "launch/role_restarts.h"

namespace leeway::app {

class RoleWatch {
 public:
  // `address_file` holds the scheduler's address.
  RoleWatch(const LaunchOptions& options, const JobCheckpoints& checkpoints, std::string address_file,
            LaunchControl& control);

  void Start(JobRole role, std::uint32_t index, SteadyClock::time_point at);
  // A process has ended.
  void OnEnded(const EndedProcess& ended, const JobNow& now);
  // Kills servers that the scheduler has given up, decides losses, starts processes that are due.
  void OnTime(const JobNow& now);
  // Forgets losses and restarts: the job is ending.
  void DropPending();

  // A loss is not decided, or a restart is due.
  [[nodiscard]] bool HasPending() const { return IsUndecided() || !due_.empty(); }
  [[nodiscard]] bool IsUndecided() const { return !undecided_.empty(); }
  // The scheduler has ended for good.
  [[nodiscard]] bool scheduler_done() const { return scheduler_done_; }
  // ... and well.
  [[nodiscard]] bool job_done() const { return job_done_; }
  // A server died when no worker needed it any more.
  [[nodiscard]] bool server_gone() const { return server_gone_; }
  // The server or scheduler whose death ended the job, and how; empty: none did.
  [[nodiscard]] const std::string& role_lost() const { return role_lost_; }
  // A server was not started again because there was no checkpoint at that moment.
  [[nodiscard]] bool lacked_checkpoint() const { return lacked_checkpoint_; }

 private:
  struct DueRole {
    JobRole role;
    std::uint32_t index;
    SteadyClock::time_point at;
    std::string why;  // "restart 1 of 100"
  };
  struct ServerLoss {
    EndedProcess ended;
    SteadyClock::time_point at;
  };

  // `waited`: Launch has already waited for a better explanation.
  void OnLost(const EndedProcess& ended, bool waited, const JobNow& now);
  // False: it is too early to tell.
  bool Decide(const ServerLoss& loss, const JobNow& now);
  // True: it is started again. Else `why_not` says why it is not.
  bool StartAgain(const EndedProcess& ended, const std::string& what, std::string& why_not,
                  const JobNow& now);
  // Whether the job can go on with another process in the place of this server, as far as is known; else why
  // not.
  [[nodiscard]] bool MayPatch(std::string& why_not, const JobNow& now) const;
  // Whether the job certainly can.
  [[nodiscard]] bool CanPatch(const JobNow& now) const;
  void StartDue(const JobNow& now);
  // A server that stands still and was given up by the scheduler makes room for another.
  void KillLostServers(const JobNow& now);

  const LaunchOptions& options_;
  const JobCheckpoints& checkpoints_;
  const std::string address_file_;
  LaunchControl& control_;
  RoleRestarts restarts_;
  std::map<std::pair<JobRole, std::uint32_t>, SteadyClock::time_point> began_;
  std::vector<DueRole> due_;
  std::vector<ServerLoss> undecided_;
  bool scheduler_done_ = false;
  bool job_done_ = false;
  bool server_gone_ = false;
  bool lacked_checkpoint_ = false;
  std::string role_lost_;
};

}  // namespace leeway::app
