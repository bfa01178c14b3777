#include "launch/signal_inbox.h"

#include <pthread.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <cstring>

#include "base/errors.h"

namespace leeway::app {

Result<SignalInbox> SignalInbox::Open(std::initializer_list<int> signals) {
  sigset_t mask;
  sigset_t outer;
  sigemptyset(&mask);
  for (const int signal : signals) sigaddset(&mask, signal);
  if (const int error = pthread_sigmask(SIG_BLOCK, &mask, &outer); error != 0) {
    return Internal("cannot block signals: {}", std::strerror(error));
  }
  Descriptor fd(signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!fd.is_open()) return Internal("cannot open a signalfd: {}", std::strerror(errno));
  return SignalInbox(std::move(fd), outer);
}

SignalInbox::~SignalInbox() {
  if (fd_.is_open()) pthread_sigmask(SIG_SETMASK, &outer_, nullptr);
}

std::optional<int> SignalInbox::Next() {
  signalfd_siginfo info{};
  if (::read(fd_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace leeway::app
