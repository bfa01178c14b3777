// UntilEnded: lets a role run in this process until its job ends, or until a signal asks it to stop.
#pragma once

#include <chrono>
#include <functional>

#include "leeway/env.h"
#include "leeway/status.h"
#include "system/signal_inbox.h"

namespace leeway::app {

// The signals that ask a role to stop (SIGUSR1 too, which one that has no use for it must not die of).
// REQUIRES: opened before the role starts its threads.
[[nodiscard]] Result<SignalInbox> OpenStopSignals();
// And SIGQUIT, which asks what the role is doing.
[[nodiscard]] Result<SignalInbox> OpenStopAndAskSignals();

inline constexpr std::chrono::milliseconds kDrainAgain{500};

// The actions of a role. An action that the role does not have stays empty.
struct RoleCalls {
  // Blocks for at most the time given and says how the role ended.
  std::function<Status(std::chrono::milliseconds)> wait;
  // Makes it end.
  std::function<void(const Status&)> stop;
  // Answers SIGQUIT, if that is among the signals.
  std::function<void()> tell;
  // SIGUSR1: a checkpoint now.
  std::function<void()> checkpoint;
  // The first SIGTERM: begins what should be done before the end, and stops the role itself when it is done.
  // Called again every kDrainAgain until then, so that what went wrong may be tried again while there is
  // time; does nothing while it is under way. `stop` is called after `grace`, or at the next signal.
  std::function<void(const Status&)> drain;
  std::chrono::milliseconds grace{0};  // 0: no drain
  // Shows how the role fares, so often; 0: never.
  std::function<void()> show;
  std::chrono::milliseconds show_every{0};
};

// Returns how it ended.
[[nodiscard]] Status UntilEnded(SignalInbox& signals, const RoleCalls& calls);

// The exit code of a role that ended so. Being asked to stop is no error: it is logged, not complained about.
[[nodiscard]] Result<int> ExitOf(const Status& ended, Log& log);

}  // namespace leeway::app
