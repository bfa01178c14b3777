// LaunchControl: what the parts of a launch see of each other and ask for. Launch carries it out, and tests
// write it down. Single-threaded.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "launch/job_processes.h"
#include "status/job_events.h"
#include "status/job_status.h"

namespace leeway::app {

using SteadyClock = std::chrono::steady_clock;

// A cause may become known after its effects. An effect waits this long before Launch acts on it:
// - The failure of a role waits for a worker's: when the only worker fails, the scheduler may end before it,
//   and the user's own exit code says more.
// - A worker's exit code of 128 and above waits for the end of the scheduler or server that caused it.
// - The loss of a worker while the job gathers waits for the news that the job has begun meanwhile.
inline constexpr std::chrono::milliseconds kCauseFirst{1'000};

// A reason to end the job.
struct JobFailure {
  int exit_code;
  std::string why;
  SteadyClock::time_point act_at;
  bool of_role = false;  // The scheduler or a server failed, which says more than the loss of a worker.
  // A worker that fails takes the job with it, and its own end, which says why, comes after that of others.
  SteadyClock::time_point workers_until = act_at;
};

// The job at one moment. Made for one call.
struct JobNow {
  SteadyClock::time_point at;
  const JobStatus* status = nullptr;  // the last one; null: the scheduler has not answered yet
  SteadyClock::time_point status_at;  // when it came
  bool begun = false;                 // the job has gathered
  bool served = false;                // every worker has its final values
  bool interrupting = false;          // workers were interrupted and may end by themselves
  bool scheduler_done = false;        // the scheduler has ended for good
  bool job_done = false;              // ... and well
};

class LaunchControl {
 public:
  virtual ~LaunchControl() = default;

  // Shows a line to the user.
  virtual void Say(const std::string& line) = 0;
  // Notes an event for the summary.
  virtual void Note(EventKind kind, const std::string& who, const std::string& what) = 0;

  // Starts a process, unless the job is ending. A process that cannot be started ends the job.
  virtual void Start(JobRole role, std::uint32_t index) = 0;
  virtual void Kill(JobRole role, std::uint32_t index) = 0;
  virtual void SignalAll(JobRole role, int signal) = 0;
  [[nodiscard]] virtual bool IsRunning(JobRole role, std::uint32_t index) const = 0;
  [[nodiscard]] virtual std::size_t Running(JobRole role) const = 0;
  // The reason that the newest process gave for its end; empty: it gave no reason.
  [[nodiscard]] virtual std::string LastWords(JobRole role, std::uint32_t index) const = 0;

  // Asks the scheduler for a checkpoint.
  virtual void AskCheckpoint() = 0;
  virtual void Fail(JobFailure failure) = 0;
  // A script ended with an error of its own: ends the job now.
  virtual void OnScriptFailed(int exit_code, const std::string& why) = 0;
  [[nodiscard]] virtual bool IsFailing() const = 0;
  [[nodiscard]] virtual bool IsEnding() const = 0;
};

}  // namespace leeway::app
