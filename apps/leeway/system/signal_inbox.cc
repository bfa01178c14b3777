#include "system/signal_inbox.h"

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/errors.h"

namespace leeway::app {
namespace {

bool IsIgnored(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

sigset_t NotIgnored(std::initializer_list<int> signals) {
  sigset_t mask;
  sigemptyset(&mask);
  for (const int signal : signals) {
    if (!IsIgnored(signal)) sigaddset(&mask, signal);
  }
  return mask;
}

Result<Descriptor> OpenSignalFd(const sigset_t& mask) {
  Descriptor fd(signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC));
  if (fd.fd() < 0) return Internal("cannot open a signalfd: {}", std::strerror(errno));
  return fd;
}

}  // namespace

Result<SignalInbox> SignalInbox::Open(std::initializer_list<int> signals) {
  const sigset_t mask = NotIgnored(signals);
  sigset_t outer;
  if (const int error = pthread_sigmask(SIG_BLOCK, &mask, &outer); error != 0) {
    return Internal("cannot block signals: {}", std::strerror(error));
  }
  LW_ASSIGN_OR_RETURN(Descriptor fd, OpenSignalFd(mask));
  return SignalInbox(std::move(fd), outer);
}

Result<Descriptor> SignalInbox::Watch(std::initializer_list<int> signals) {
  return OpenSignalFd(NotIgnored(signals));
}

SignalInbox::~SignalInbox() {
  if (fd_.fd() >= 0 && !stay_blocked_) pthread_sigmask(SIG_SETMASK, &outer_, nullptr);
}

std::optional<int> SignalInbox::Next() {
  signalfd_siginfo info{};
  if (::read(fd_.fd(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace leeway::app
