// Checkpoints of a launch that a signal asks for: SIGUSR1, and SIGTERM, which ends the job after one.
#include <fmt/format.h>

#include <csignal>
#include <utility>

#include "cli/quantity.h"
#include "launch/launch.h"

namespace leeway::app {
namespace {

constexpr std::chrono::milliseconds kAskAgain{500};
constexpr std::chrono::milliseconds kAskForTables{100};
// Of the grace time, the part that a job without tables gets to make some: before that it has trained
// nothing.
constexpr int kGraceForTables = 6;

}  // namespace

void Launch::AskCheckpoint() {
  if (ending_ || job_done_) return;
  if (!checkpoints_.enabled()) return Say("no checkpoint: --checkpoint-dir is not given");
  if (!monitor_) return Say("no checkpoint: the job has not begun");
  if (std::exchange(checkpoint_asked_, true)) return;  // one answer is for all
  events_.Add(EventKind::kAsked, "SIGUSR1", "asked for a checkpoint");
  monitor_->AskCheckpoint(/*wait=*/true);
}

bool Launch::BeginDrain() {
  // A second one ends the job at once, and so does one for which there is nothing to keep.
  if (drain_until_ || ending_ || options_.grace.count() == 0 || !checkpoints_.enabled()) return false;
  if (!monitor_ || settle_at_ || failure_) return false;
  drain_until_ = SteadyClock::now() + options_.grace;
  tables_until_ = SteadyClock::now() + options_.grace / kGraceForTables;
  events_.Add(EventKind::kAsked, "SIGTERM", "asked for the end, after a checkpoint");
  Say(fmt::format("SIGTERM: the job ends after a checkpoint, within {} (once more to end it at once)",
                  PrintTime(options_.grace)));
  if (!std::exchange(checkpoint_asked_, true)) monitor_->AskCheckpoint(/*wait=*/true);
  return true;
}

void Launch::TakeCheckpointAnswer(const AskedCheckpoint& answer) {
  checkpoint_asked_ = false;
  std::string line;
  if (answer.status.ok()) {
    const std::string what = fmt::format("of iteration {} is at {}", answer.iteration, answer.folder);
    events_.Add(EventKind::kCheckpoint, fmt::format("checkpoint {}", answer.checkpoint), what);
    line = fmt::format("checkpoint {} {}{}", answer.checkpoint, what, FuzzyNote(answer.folder));
  } else {
    line = fmt::format("no checkpoint: {}", answer.status.message());
  }
  if (ending_) return;
  // The tables may be on their way.
  const bool too_early = answer.status.code() == StatusCode::kNotFound;
  if (drain_until_ && too_early) {
    if (SteadyClock::now() >= tables_until_)
      return EndDrain(fmt::format("with nothing to keep: {}", answer.status.message()));
    ask_again_at_ = SteadyClock::now() + kAskForTables;
    return;
  }
  Say(line);
  // A server that died meanwhile, for one: the next may do better, while there is time.
  if (drain_until_ && answer.status.code() == StatusCode::kUnavailable) {
    ask_again_at_ = SteadyClock::now() + kAskAgain;
    return;
  }
  // The job is at its own end: it has until the grace time is over.
  if (drain_until_ && answer.status.code() == StatusCode::kFailedPrecondition) return;
  if (drain_until_) EndDrain(answer.status.ok() ? "after a checkpoint" : "without a new checkpoint");
}

void Launch::OnDrainTime(SteadyClock::time_point now) {
  if (ask_again_at_ && now >= *ask_again_at_) {
    ask_again_at_.reset();
    if (!std::exchange(checkpoint_asked_, true)) monitor_->AskCheckpoint(/*wait=*/true);
  }
  if (drain_until_ && now >= *drain_until_) {
    EndDrain(fmt::format("without a new checkpoint: it was not whole within {}", PrintTime(options_.grace)));
  }
}

void Launch::EndDrain(const std::string& how) {
  interrupted_ = true;
  screen_.Hurry();
  End(128 + SIGTERM, fmt::format("stopped by SIGTERM, {}", how));
}

}  // namespace leeway::app
