#include "role/until_ended.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "base/errors.h"
#include "transport/system/descriptor.h"

namespace leeway::app {

namespace {

using SteadyClock = std::chrono::steady_clock;

// SignalDesk: carries out what signals ask of a role. Thread rule: one thread.
class SignalDesk {
 public:
  explicit SignalDesk(const RoleCalls& calls) : calls_(calls) {}

  void Take(int signal) {
    if (signal == SIGPIPE) return;
    if (signal == SIGQUIT || signal == SIGUSR1) {
      const std::function<void()>& call = signal == SIGQUIT ? calls_.tell : calls_.checkpoint;
      if (call) call();
      return;
    }
    why_ = Cancelled("stopped by {}", strsignal(signal));
    const bool first = !std::exchange(asked_, true);
    if (!first || signal != SIGTERM || !calls_.drain || calls_.grace.count() == 0) return Stop();
    stop_at_ = SteadyClock::now() + calls_.grace;
    Drain();
  }
  // How long a poll may take: -1, without a limit.
  [[nodiscard]] int PollMs() const {
    if (!stop_at_ && !Shows()) return -1;
    auto next = SteadyClock::time_point::max();
    if (stop_at_) next = std::min(*stop_at_, drain_at_);
    if (Shows()) next = std::min(next, show_at_);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - SteadyClock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
  }
  void OnTime() {
    if (Shows() && SteadyClock::now() >= show_at_) {
      show_at_ = SteadyClock::now() + calls_.show_every;
      calls_.show();
    }
    if (stop_at_ && SteadyClock::now() >= *stop_at_) return Stop();
    if (stop_at_ && SteadyClock::now() >= drain_at_) Drain();
  }

 private:
  [[nodiscard]] bool Shows() const { return calls_.show && calls_.show_every.count() > 0; }
  void Drain() {
    drain_at_ = SteadyClock::now() + kDrainAgain;
    calls_.drain(why_);
  }
  void Stop() {
    stop_at_.reset();
    calls_.stop(why_);
  }

  const RoleCalls& calls_;
  bool asked_ = false;
  Status why_;
  std::optional<SteadyClock::time_point> stop_at_;
  SteadyClock::time_point drain_at_;  // again
  SteadyClock::time_point show_at_ = SteadyClock::now() + calls_.show_every;
};

}  // namespace

Result<SignalInbox> OpenStopSignals() {
  return SignalInbox::Open({SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGUSR1});
}

Result<SignalInbox> OpenStopAndAskSignals() {
  return SignalInbox::Open({SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGUSR1, SIGQUIT});
}

Status UntilEnded(SignalInbox& signals, const RoleCalls& calls) {
  const Descriptor ended(eventfd(0, EFD_CLOEXEC));
  if (ended.fd() < 0) return Internal("cannot open an eventfd: {}", std::strerror(errno));
  Status how;
  // A job may end with kDeadlineExceeded (not all came in time), which a wait with a limit could not tell
  // from its own limit. So one thread waits without one, and this one for signals.
  std::thread waiter([&] {
    how = calls.wait(std::chrono::hours(24 * 365));
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(ended.fd(), &one, sizeof one);
  });
  SignalDesk desk(calls);
  for (;;) {
    std::array<pollfd, 2> fds{{{ended.fd(), POLLIN, 0}, {signals.fd(), POLLIN, 0}}};
    poll(fds.data(), fds.size(), desk.PollMs());
    if ((fds[0].revents & POLLIN) != 0) break;
    while (const std::optional<int> signal = signals.Next()) desk.Take(*signal);
    desk.OnTime();
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
