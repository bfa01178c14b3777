#include "role/until_ended.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <optional>
#include <thread>

#include "base/errors.h"
#include "launch/descriptor.h"

namespace leeway::app {

Result<SignalInbox> OpenStopSignals() { return SignalInbox::Open({SIGINT, SIGTERM, SIGHUP, SIGPIPE}); }

Result<SignalInbox> OpenStopAndAskSignals() {
  return SignalInbox::Open({SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT});
}

Status UntilEnded(SignalInbox& signals, const std::function<Status(std::chrono::milliseconds)>& wait,
                  const std::function<void(const Status&)>& stop, const std::function<void()>& tell) {
  const Descriptor ended(eventfd(0, EFD_CLOEXEC));
  if (!ended.is_open()) return Internal("cannot open an eventfd: {}", std::strerror(errno));
  Status how;
  // A job may end with kDeadlineExceeded (not all came in time), which a wait with a limit could not tell
  // from its own limit. So one thread waits without one, and this one for signals.
  std::thread waiter([&] {
    how = wait(std::chrono::hours(24 * 365));
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(ended.get(), &one, sizeof one);
  });
  for (;;) {
    std::array<pollfd, 2> fds{{{ended.get(), POLLIN, 0}, {signals.fd(), POLLIN, 0}}};
    poll(fds.data(), fds.size(), -1);
    if ((fds[0].revents & POLLIN) != 0) break;
    while (const std::optional<int> signal = signals.Next()) {
      if (*signal == SIGQUIT && tell) tell();
      if (*signal != SIGPIPE && *signal != SIGQUIT) stop(Cancelled("stopped by {}", strsignal(*signal)));
    }
  }
  waiter.join();
  return how;
}

Result<int> ExitOf(const Status& ended, Log& log) {
  if (ended.ok()) return 0;
  if (ended.code() != StatusCode::kCancelled) return ended;
  log.Write(LogLevel::kInfo, ended.message());
  return ExitCode(ended);
}

}  // namespace leeway::app
