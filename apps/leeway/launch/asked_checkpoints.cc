#include "launch/asked_checkpoints.h"

#include <fmt/format.h>

#include <utility>

#include "launch/job_checkpoints.h"
#include "terminal/quantity.h"

namespace leeway::app {
namespace {

constexpr std::chrono::milliseconds kAskAgain{500};
constexpr std::chrono::milliseconds kAskForTables{100};
// A job without tables gets this part of the grace time to make some: before that it has trained nothing.
constexpr int kGraceForTables = 6;

}  // namespace

// One answer is for all who asked.
void AskedCheckpoints::AskOnce() {
  if (!std::exchange(asked_, true)) control_.AskCheckpoint();
}

void AskedCheckpoints::Ask(bool connected) {
  if (!enabled_) return control_.Say("no checkpoint: --checkpoint-dir is not given");
  if (!connected) return control_.Say("no checkpoint: the job has not begun");
  if (!asked_) control_.Note(EventKind::kAsked, "SIGUSR1", "asked for a checkpoint");
  AskOnce();
}

bool AskedCheckpoints::BeginDrain(SteadyClock::time_point now) {
  // A second SIGTERM ends the job at once, and so does one for which there is nothing to keep.
  if (drain_until_ || grace_.count() == 0 || !enabled_) return false;
  drain_until_ = now + grace_;
  tables_until_ = now + grace_ / kGraceForTables;
  control_.Note(EventKind::kAsked, "SIGTERM", "asked for the end, after a checkpoint");
  control_.Say(
      fmt::format("SIGTERM: the job ends after a checkpoint, within {} (once more to end it at once)",
                  PrintTime(grace_)));
  AskOnce();
  return true;
}

std::optional<std::string> AskedCheckpoints::TakeAnswer(const AskedCheckpoint& answer,
                                                        SteadyClock::time_point now) {
  asked_ = false;
  std::string line;
  if (answer.status.ok()) {
    const std::string what = fmt::format("of iteration {} is at {}", answer.iteration, answer.folder);
    control_.Note(EventKind::kCheckpoint, fmt::format("checkpoint {}", answer.checkpoint), what);
    line = fmt::format("checkpoint {} {}{}", answer.checkpoint, what, FuzzyNote(answer.folder));
  } else {
    line = fmt::format("no checkpoint: {}", answer.status.message());
  }
  if (control_.IsEnding()) return std::nullopt;
  // The tables may be on their way.
  const bool too_early = answer.status.code() == StatusCode::kNotFound;
  if (drain_until_ && too_early) {
    if (now >= tables_until_) return fmt::format("with nothing to keep: {}", answer.status.message());
    ask_again_at_ = now + kAskForTables;
    return std::nullopt;
  }
  control_.Say(line);
  if (!drain_until_) return std::nullopt;
  if (answer.status.ok()) return "after a checkpoint";
  switch (answer.status.code()) {
    case StatusCode::kUnavailable:  // A server died meanwhile, for one: the next try may do better.
      ask_again_at_ = now + kAskAgain;
      return std::nullopt;
    case StatusCode::kFailedPrecondition:  // The job is at its own end, and has the rest of the grace time.
      return std::nullopt;
    default:
      return "without a new checkpoint";
  }
}

std::optional<std::string> AskedCheckpoints::OnTime(SteadyClock::time_point now) {
  if (ask_again_at_ && now >= *ask_again_at_) {
    ask_again_at_.reset();
    AskOnce();
  }
  if (!drain_until_ || now < *drain_until_) return std::nullopt;
  return fmt::format("without a new checkpoint: it was not whole within {}", PrintTime(grace_));
}

}  // namespace leeway::app
