// JobEnding: why and how a launch ends: the failure that waits for a better explanation, the time that
// scripts get after Ctrl-C, and the signals that end the processes. Borrows its arguments. Single-threaded.
#pragma once

#include <optional>
#include <string>

#include "launch/launch_control.h"
#include "launch/launcher.h"

namespace leeway::app {

class JobEnding {
 public:
  JobEnding(const LaunchOptions& options, LaunchControl& control) : options_(options), control_(control) {}

  // Keeps the first failure, unless one of a role comes after one of a worker.
  void Fail(JobFailure failure);
  // All workers have ended, and one of them well: scheduler and servers may end by themselves for a while.
  void Settle(SteadyClock::time_point now) { settle_until_ = now + options_.settle; }
  // A signal asked for the end of the job.
  void SetInterrupted() { interrupted_ = true; }
  // Ctrl-C may wait for scripts.
  [[nodiscard]] bool MayInterrupt() const;
  // Interrupts the workers, which may end by themselves for a while. REQUIRES: MayInterrupt().
  void BeginInterrupt(SteadyClock::time_point now);
  void EndInterrupt() { interrupt_until_.reset(); }
  // Asks all processes to end. REQUIRES: !begun().
  void Begin(int exit_code, const std::string& why, SteadyClock::time_point now);
  // Sends the signals that are due.
  void OnTime(SteadyClock::time_point now);

  [[nodiscard]] bool begun() const { return begun_; }
  [[nodiscard]] bool interrupted() const { return interrupted_; }
  [[nodiscard]] bool interrupting() const { return interrupt_until_.has_value(); }
  [[nodiscard]] bool settling() const { return settle_until_.has_value(); }
  [[nodiscard]] const std::optional<JobFailure>& failure() const { return failure_; }
  [[nodiscard]] bool IsInterruptOver(SteadyClock::time_point now) const {
    return interrupt_until_ && now >= *interrupt_until_;
  }
  // It is time to act on the failure: no other explanation can come.
  [[nodiscard]] bool IsFailureDue(SteadyClock::time_point now) const;
  // It is time to end what has not ended by itself. `in_vain`: nothing will.
  [[nodiscard]] bool HasSettled(SteadyClock::time_point now, bool in_vain) const {
    return settle_until_ && (in_vain || now >= *settle_until_);
  }
  [[nodiscard]] int exit_code() const { return exit_code_; }
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  const LaunchOptions& options_;
  LaunchControl& control_;
  std::optional<JobFailure> failure_;
  std::optional<SteadyClock::time_point> settle_until_;
  bool interrupted_ = false;
  std::optional<SteadyClock::time_point> interrupt_until_;
  bool begun_ = false;
  int exit_code_ = 0;
  std::string why_;
  std::optional<SteadyClock::time_point> term_servers_at_;
  std::optional<SteadyClock::time_point> kill_at_;  // SIGKILL for processes that SIGTERM did not end
};

}  // namespace leeway::app
