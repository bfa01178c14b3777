// UntilEnded: lets a role run in this process until its job ends, or until a signal asks it to stop.
#pragma once

#include <chrono>
#include <functional>

#include "launch/signal_inbox.h"
#include "leeway/env.h"
#include "leeway/status.h"

namespace leeway::app {

// The signals that ask a role to stop. REQUIRES: opened before the role starts its threads.
[[nodiscard]] Result<SignalInbox> OpenStopSignals();
// And SIGQUIT, which asks what the role is doing.
[[nodiscard]] Result<SignalInbox> OpenStopAndAskSignals();

// `wait` blocks for at most the time given and says how the role ended; `stop` makes it end; `tell`
// answers SIGQUIT, if that is among the signals. Returns how it ended.
[[nodiscard]] Status UntilEnded(SignalInbox& signals,
                                const std::function<Status(std::chrono::milliseconds)>& wait,
                                const std::function<void(const Status&)>& stop,
                                const std::function<void()>& tell = {});

// The exit code of a role that ended so. Being asked to stop is no error: it is logged, not complained about.
[[nodiscard]] Result<int> ExitOf(const Status& ended, Log& log);

}  // namespace leeway::app
