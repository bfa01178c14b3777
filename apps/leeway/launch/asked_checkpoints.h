// AskedCheckpoints: checkpoints of a launch that a signal asks for: SIGUSR1, and SIGTERM, which ends the job
// after one (a drain). Borrows the control. Single-threaded.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "launch/launch_control.h"
#include "status/monitor_client.h"

namespace leeway::app {

class AskedCheckpoints {
 public:
  // `enabled`: the job has a folder for checkpoints. A drain lasts at most `grace`; 0: there is no drain.
  AskedCheckpoints(bool enabled, std::chrono::milliseconds grace, LaunchControl& control)
      : enabled_(enabled), grace_(grace), control_(control) {}

  // SIGUSR1. `connected`: the scheduler can be asked.
  void Ask(bool connected);
  // SIGTERM. False: the job has to end at once.
  [[nodiscard]] bool BeginDrain(SteadyClock::time_point now);
  // The scheduler's answer. Returns how the drain ended, if it has.
  [[nodiscard]] std::optional<std::string> TakeAnswer(const AskedCheckpoint& answer,
                                                      SteadyClock::time_point now);
  [[nodiscard]] std::optional<std::string> OnTime(SteadyClock::time_point now);
  [[nodiscard]] bool draining() const { return drain_until_.has_value(); }

 private:
  void AskOnce();

  const bool enabled_;
  const std::chrono::milliseconds grace_;
  LaunchControl& control_;
  bool asked_ = false;  // the scheduler owes an answer
  std::optional<SteadyClock::time_point> drain_until_;
  SteadyClock::time_point tables_until_;                 // a drain waits so long for the job's first tables
  std::optional<SteadyClock::time_point> ask_again_at_;  // the drain's checkpoint was given up
};

}  // namespace leeway::app
