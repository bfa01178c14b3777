// Launch: one set of processes of a job, from their start to the end of the last one. The launcher makes
// another one when the job goes back to a checkpoint as a whole.
//
// launch.cc has its life: start, signals, time, the end; launch_workers.cc what it does about workers that
// end, launch_roles.cc about servers and the scheduler, launch_checkpoints.cc about checkpoints that are
// asked for. Single-threaded, but for the monitor that asks the scheduler.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/run_recorder.h"
#include "launch/guard.h"
#include "launch/job_checkpoints.h"
#include "launch/job_commands.h"
#include "launch/job_events.h"
#include "launch/job_processes.h"
#include "launch/launcher.h"
#include "launch/monitor_client.h"
#include "launch/progress.h"
#include "launch/role_restarts.h"
#include "launch/screen.h"
#include "launch/signal_inbox.h"
#include "launch/summary.h"

namespace leeway::app {

class Launch {
 public:
  // Borrows all but the files and `found`, the program of options.command[0].
  Launch(const Program& program, const LaunchOptions& options, LaunchFiles files, std::string found,
         SignalInbox& signals, const Descriptor& stop, const Guard& guard, const JobCheckpoints& checkpoints,
         JobEvents& events);

  // The exit code of the whole.
  int Run();
  // Which server or scheduler died, if that ended the job.
  [[nodiscard]] const std::string& role_lost() const { return role_lost_; }
  // The newest checkpoint on which the end of the job was decided; empty: there is none.
  [[nodiscard]] const std::string& newest() const { return *newest_; }
  // An error of a script ended the job.
  [[nodiscard]] bool script_failed() const { return script_failed_; }
  // The job had gathered.
  [[nodiscard]] bool begun() const { return begun_; }
  // A signal asked for the end of the job.
  [[nodiscard]] bool interrupted() const { return interrupted_; }

 private:
  using SteadyClock = std::chrono::steady_clock;

  struct Failure {
    int exit_code;
    std::string why;
    SteadyClock::time_point act_at;
    bool of_role = false;  // of scheduler or server: says more than a loss
    // A worker that fails takes the job with it, and its own end, which says why, comes after that of others.
    SteadyClock::time_point workers_until = act_at;
  };
  struct DueWorker {
    std::uint32_t rank;
    LifeBegan began;
    SteadyClock::time_point at;
    std::string why;  // "restart 1 of 3"
  };
  struct DueRole {
    JobRole role;
    std::uint32_t index;
    SteadyClock::time_point at;
    std::string why;  // "restart 1 of 100"
  };
  struct Loss {
    std::uint32_t rank;
    ProcessEnd end;
    SteadyClock::time_point decide_at;
  };
  struct ServerLoss {
    EndedProcess ended;
    SteadyClock::time_point at;
  };

  // What may follow from something else waits this long for it:
  // - A role's failure for a worker's: when the only worker fails, the scheduler may end before it, and the
  //   user's own exit code says more.
  // - A worker's exit code of 128 and above for the end of scheduler or server that it may tell of.
  // - The loss of a worker while the job gathers for the news that it has begun meanwhile.
  static constexpr std::chrono::milliseconds kCauseFirst{1'000};
  // The loss of a server waits this long for news: that nobody needs it any more, that the job's first
  // checkpoint is whole, that somebody has trained. Workers report once a second, and the status comes a
  // moment later.
  static constexpr std::chrono::milliseconds kServerNews{1'500};
  // How long a script may take to end after its session did.
  static constexpr std::chrono::milliseconds kScriptEnds{5'000};
  // Between SIGTERM of the scheduler and of the servers.
  static constexpr std::chrono::milliseconds kWordFirst{300};

  // Its life (launch.cc).
  [[nodiscard]] double Elapsed() const {
    return std::chrono::duration<double>(SteadyClock::now() - begin_).count();
  }
  void Say(const std::string& line) { screen_.Line(STDERR_FILENO, "leeway: ", line); }
  void Start(JobRole role, std::uint32_t index, ChildCommand command);
  void StartAll();
  void TellHowToJoin();
  void Step(std::chrono::milliseconds timeout);
  void OnSignal(int signal);
  // Ctrl-C: interrupts the workers, which may end by themselves for a while. False: there is nobody to wait
  // for.
  bool BeginInterrupt();
  void EndInterrupt(const std::string& how = "");
  void OnEnded(const EndedProcess& ended);
  void Fail(Failure failure);
  [[nodiscard]] bool HasBegun() const { return begun_; }
  void TellWhoWaits();
  void OnTime();
  void Show();
  void End(int exit_code, const std::string& why);
  void TakeStatus(const std::string& json);
  void HintAtSameBatches(const JobStatus& status);
  void TakeLastStatus();
  void LookForRecord(const JobStatus& status);
  [[nodiscard]] Status WriteRecord() const;
  // No worker ever did, as the last status says.
  [[nodiscard]] bool NobodyJoined() const { return outcome_.status && outcome_.status->workers.empty(); }
  // Once the job has ended by itself: whether something was wrong with it all the same.
  void JudgeEnd();
  void Conclude();
  void ShowEnd();
  // What a script that lacks a module is to be run with; empty: it lacks none, or the right Python ran it.
  [[nodiscard]] std::string PythonHint(std::uint32_t rank) const;
  [[nodiscard]] bool WillRollBack() const;

  // Workers (launch_workers.cc).
  void StartWorker(std::uint32_t rank, LifeBegan began);
  void OnWorkerEnded(std::uint32_t rank, const ProcessEnd& end);
  void OnLost(std::uint32_t rank, const ProcessEnd& end);
  // False: it is too early to tell.
  bool Decide(const Loss& loss);
  void DecideLosses();
  void StartDueWorkers(SteadyClock::time_point now);
  void EndStragglers(SteadyClock::time_point now);
  [[nodiscard]] WorkerStatus StatusOf(std::uint32_t rank) const;
  // Tells the scheduler which lives have ended with their processes, as far as it does not know.
  void TellEndedLives();
  // A later life that ended without having joined, because the job was over.
  [[nodiscard]] bool CameTooLate(std::uint32_t rank, const ProcessEnd& end) const;
  // None runs, and none will.
  [[nodiscard]] bool NoWorkerLeft() const {
    return processes_.Running(JobRole::kWorker) == 0 && due_workers_.empty();
  }

  // Servers and the scheduler (launch_roles.cc).
  void StartRole(JobRole role, std::uint32_t index);
  void OnRoleEnded(const EndedProcess& ended);
  // `waited`: the launcher has already waited for a better explanation.
  void OnRoleLost(const EndedProcess& ended, bool waited);
  void DecideServerLosses(SteadyClock::time_point now);
  // False: it is too early to tell.
  bool Decide(const ServerLoss& loss, SteadyClock::time_point now);
  // Every worker has its final values.
  [[nodiscard]] bool NeedsNoServer() const {
    const bool served = outcome_.status && outcome_.status->served;
    return settle_at_ || job_done_ || served || (monitor_ && monitor_->ended_well());
  }
  // Some worker has ended an iteration, as far as the last status knows.
  [[nodiscard]] bool HasTrained() const;
  // True: it is started again. Else `why_not` says why it is not.
  bool StartRoleAgain(const EndedProcess& ended, const std::string& what, std::string& why_not);
  // Whether the job can go on with another process in the place of this server, as far as is known; else why
  // not.
  [[nodiscard]] bool MayPatch(std::string& why_not) const;
  // Whether that is certain.
  [[nodiscard]] bool CanPatch() const;
  void StartDueRoles(SteadyClock::time_point now);
  // One that stands still and was given up by the scheduler makes room for another.
  void KillLostServers(SteadyClock::time_point now);

  // Checkpoints that are asked for (launch_checkpoints.cc).
  void AskCheckpoint();
  // SIGTERM: true if the job ends after a checkpoint. It must be the first signal to end it.
  bool BeginDrain();
  void TakeCheckpointAnswer(const AskedCheckpoint& answer);
  void EndDrain(const std::string& how);
  void OnDrainTime(SteadyClock::time_point now);

  const Program& program_;
  const LaunchOptions& options_;
  const LaunchFiles files_;
  const std::string found_;
  SignalInbox& signals_;
  const JobCheckpoints& checkpoints_;
  JobEvents& events_;
  Screen screen_;
  JobProcesses processes_;
  RoleRestarts role_restarts_;
  std::unique_ptr<MonitorClient> monitor_;
  Progress progress_;
  bool hinted_ = false;  // at workers that train on the same batches
  RunRecorder recorder_;
  Outcome outcome_;

  const SteadyClock::time_point begin_ = SteadyClock::now();
  SteadyClock::time_point shown_ = begin_;
  bool begun_ = false;  // the job has gathered
  bool ending_ = false;
  bool interrupted_ = false;
  std::optional<SteadyClock::time_point>
      interrupt_until_;                       // workers were interrupted, and may end until then
  std::optional<std::uint32_t> failed_rank_;  // the worker whose end ended the job
  bool script_failed_ = false;                // by an error of its own
  std::optional<SteadyClock::time_point> term_servers_at_;
  std::optional<SteadyClock::time_point> kill_at_;  // of what SIGTERM did not end
  std::optional<SteadyClock::time_point>
      settle_at_;                   // all workers have ended well: the rest may end by itself until then
  std::optional<Failure> failure_;  // waits for one that says more
  std::optional<SteadyClock::time_point> drain_until_;   // a checkpoint is waited for, and then the job ends
  SteadyClock::time_point tables_until_;                 // ... and before that the job's first tables
  SteadyClock::time_point status_at_;                    // when the last one came
  bool checkpoint_asked_ = false;                        // the monitor owes an answer
  std::optional<SteadyClock::time_point> ask_again_at_;  // of a drain whose checkpoint was given up
  bool scheduler_done_ = false;                          // it has ended, for good
  bool job_done_ = false;                                // and well
  std::vector<DueWorker> due_workers_;
  std::vector<DueRole> due_roles_;
  std::map<std::pair<JobRole, std::uint32_t>, SteadyClock::time_point> role_began_;
  std::map<std::uint32_t, std::uint64_t> joined_before_;  // of those started again: lives that had joined
  std::vector<Loss> undecided_;                           // lost, perhaps before the job began
  std::vector<ServerLoss> undecided_servers_;
  bool server_gone_ = false;  // one died when nobody needed it any more
  // The newest checkpoint when the launcher decided how the job ends, or at its end if
  // nothing was decided; empty: none.
  std::optional<std::string> newest_;
  std::optional<SteadyClock::time_point> stragglers_until_;
  std::optional<double> gathered_s_, workers_ended_s_;
  std::string role_lost_;
};

}  // namespace leeway::app
