#include "capture.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/errors.h"

namespace leeway::bench {

Result<Captured> Capture(const std::function<int()>& run) {
  int ends[2] = {-1, -1};
  // Buffered output would be written twice.
  std::fflush(nullptr);
  if (pipe2(ends, O_CLOEXEC) != 0) return ResourceExhausted("cannot make a pipe: {}", std::strerror(errno));
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(ends[1], STDOUT_FILENO) < 0) _exit(1);
    const int code = run();
    std::fflush(nullptr);
    _exit(code);
  }
  close(ends[1]);
  Captured captured;
  char bytes[4096];
  while (child > 0) {
    const ssize_t n = read(ends[0], bytes, sizeof(bytes));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    captured.out.append(bytes, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  if (child < 0) return ResourceExhausted("cannot start a process: {}", std::strerror(errno));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  captured.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return captured;
}

}  // namespace leeway::bench
