// Summary: what became of a job: time per phase, waits by cause, bytes, delayed pulls. As tables and as JSON.
#pragma once

#include <optional>
#include <string>

#include "status/job_events.h"
#include "status/job_status.h"
#include "status/worker_lives.h"

namespace leeway::app {

// Seconds of the launch, by the launcher's clock.
struct LaunchTimes {
  double start_s = 0;  // until all workers and servers had come together
  double train_s = 0;  // until the last worker ended
  double end_s = 0;    // until nothing was left
  [[nodiscard]] double total_s() const { return start_s + train_s + end_s; }
};

struct Outcome {
  int exit_code = 0;
  std::string why;                         // empty: every worker that was not lost ended well
  bool stopped = false;                    // a signal asked for the end: no failure
  bool asked_help = false;                 // the script was given --help, so it need not join the job
  std::optional<std::uint32_t> lost_rank;  // a worker whose loss gives the job its exit code
  LaunchTimes times;
  WorkerLives lives;
  JobEvents events;
  std::optional<JobStatus> status;  // the last one; nothing when the scheduler never answered
  std::string status_json;          // its text, for the JSON summary
  // No worker ever joined, as the last status says.
  [[nodiscard]] bool NobodyJoined() const { return status && status->workers.empty(); }
};

// Whether something was wrong with a job that ended by itself: sets exit_code, why and lost_rank.
// `accepts_losses`: the loss of a worker does not count.
void JudgeEnd(Outcome& outcome, bool accepts_losses);

// Figures that workers report as seconds: `wait_s` is all waiting, `wait_<cause>_s` a part of it, `<phase>_s`
// anything else.
[[nodiscard]] std::string SummaryText(const Outcome& outcome);
// One object: exit_code, why, times, totals, account (account_text.h), workers (the lives of each), events,
// and the scheduler's last status under "status".
[[nodiscard]] std::string SummaryJson(const Outcome& outcome);

}  // namespace leeway::app
