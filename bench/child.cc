#include "child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/errors.h"

namespace leeway::bench {
namespace {

constexpr int kHearMs = 10'000;

}  // namespace

Child::Child(const std::function<int(const Tell& tell)>& run) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    // Dies with the parent, however that ends; the second look closes the race with a parent that died
    // before.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    close(ends[0]);
    const int code = run([&](const std::string& line) {
      const std::string text = line + "\n";
      if (write(ends[1], text.data(), text.size()) != static_cast<ssize_t>(text.size())) _exit(1);
    });
    _exit(code);
  }
  close(ends[1]);
  pipe_ = ends[0];
}

Child::~Child() {
  if (pipe_ >= 0) close(pipe_);
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<std::string> Child::Hear() {
  if (pid_ <= 0) return ResourceExhausted("cannot start a process for the bench");
  std::string line;
  while (true) {
    pollfd wait{.fd = pipe_, .events = POLLIN, .revents = 0};
    if (poll(&wait, 1, kHearMs) == 0)
      return DeadlineExceeded("the bench's child said nothing for {} ms", kHearMs);
    char c = 0;
    const ssize_t n = read(pipe_, &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Unavailable("the bench's child ended before it was ready");
    if (c == '\n') return line;
    line += c;
  }
}

std::optional<int> Child::Ended() {
  int status = 0;
  if (pid_ <= 0 || waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  pid_ = -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace leeway::bench
