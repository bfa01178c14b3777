// Launch: one set of processes of a job, from their start to the end of the last one. The launcher makes
// another one when the job goes back to a checkpoint as a whole.
//
// Launch routes signals, ends of processes, answers of the scheduler and the time to its parts, and carries
// out what they ask for. Single-threaded, but for the monitor that asks the scheduler.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "calibrate/run_recorder.h"
#include "launch/asked_checkpoints.h"
#include "launch/guard.h"
#include "launch/job_checkpoints.h"
#include "launch/job_commands.h"
#include "launch/job_ending.h"
#include "launch/job_processes.h"
#include "launch/launch_control.h"
#include "launch/launch_display.h"
#include "launch/launcher.h"
#include "launch/role_watch.h"
#include "launch/worker_watch.h"
#include "status/job_events.h"
#include "status/last_status.h"
#include "status/monitor_client.h"
#include "status/summary.h"
#include "system/signal_inbox.h"
#include "terminal/screen.h"

namespace leeway::app {

class Launch final : private LaunchControl {
 public:
  // Borrows all but the files and `found`, the program of options.command[0].
  Launch(const Program& program, const LaunchOptions& options, LaunchFiles files, std::string found,
         SignalInbox& signals, const Descriptor& stop, const Guard& guard, const JobCheckpoints& checkpoints,
         JobEvents& events);

  // The exit code of the whole.
  int Run();
  // Which server or scheduler died, if that ended the job.
  [[nodiscard]] const std::string& role_lost() const { return roles_.role_lost(); }
  // The newest checkpoint on which the end of the job was decided; empty: the job has no checkpoint.
  [[nodiscard]] const std::string& newest() const { return newest_; }
  // An error of a script ended the job.
  [[nodiscard]] bool script_failed() const { return workers_.script_failed(); }
  // The job had gathered.
  [[nodiscard]] bool begun() const { return last_status_.gathered_s().has_value(); }
  // A signal asked for the end of the job.
  [[nodiscard]] bool interrupted() const { return ending_.interrupted(); }

 private:
  void Say(const std::string& line) override { display_.Say(line); }
  void Note(EventKind kind, const std::string& who, const std::string& what) override {
    events_.Add(kind, who, what);
  }
  void Start(JobRole role, std::uint32_t index) override;
  void Kill(JobRole role, std::uint32_t index) override { processes_.Signal(role, index, SIGKILL); }
  void SignalAll(JobRole role, int signal) override { processes_.SignalAll(role, signal); }
  [[nodiscard]] bool IsRunning(JobRole role, std::uint32_t index) const override {
    return processes_.IsRunning(role, index);
  }
  [[nodiscard]] std::size_t Running(JobRole role) const override { return processes_.Running(role); }
  [[nodiscard]] std::string LastWords(JobRole role, std::uint32_t index) const override {
    return processes_.LastWords(role, index);
  }
  void AskCheckpoint() override { monitor_->AskCheckpoint(/*wait=*/true); }
  void Fail(JobFailure failure) override { ending_.Fail(std::move(failure)); }
  void OnScriptFailed(int exit_code, const std::string& why) override;
  [[nodiscard]] bool IsFailing() const override { return ending_.failure().has_value(); }
  [[nodiscard]] bool IsEnding() const override { return ending_.begun(); }

  [[nodiscard]] double Elapsed() const {
    return std::chrono::duration<double>(SteadyClock::now() - begin_).count();
  }
  [[nodiscard]] JobNow Now() const;
  void StartAll();
  void TellHowToJoin();
  void Step(std::chrono::milliseconds timeout);
  void OnSignal(int signal);
  void OnEnded(const EndedProcess& ended);
  void OnTime();
  void TakeStatus(const std::string& json);
  // The scheduler's last word holds figures that came after the last status asked for.
  void TakeLastStatus();
  // Looks at the processes for the record of the run.
  void LookForRecord();
  void End(int exit_code, const std::string& why);
  void EndInterrupt(const std::string& how = "");
  void EndDrain(const std::string& how);
  // Writes the files about the job and shows its end.
  int Conclude();
  [[nodiscard]] Status WriteRecord() const;
  void ShowEnd(const Outcome& outcome);

  const Program& program_;
  const LaunchOptions& options_;
  const LaunchFiles files_;
  const std::string found_;
  SignalInbox& signals_;
  const JobCheckpoints& checkpoints_;
  JobEvents& events_;
  Screen screen_;
  JobProcesses processes_;
  std::unique_ptr<MonitorClient> monitor_;
  LastStatus last_status_;
  LaunchDisplay display_;
  WorkerWatch workers_;
  RoleWatch roles_;
  AskedCheckpoints asked_;
  JobEnding ending_;
  RunRecorder recorder_;
  const SteadyClock::time_point begin_ = SteadyClock::now();
  std::optional<double> workers_ended_s_;
  std::string newest_;
};

}  // namespace leeway::app
