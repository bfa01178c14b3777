#include "system/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/errors.h"
#include "system/exec.h"

namespace leeway::app {
namespace {

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Result<Pipe> OpenPipe() {
  std::array<int, 2> fds{};
  if (pipe2(fds.data(), O_CLOEXEC) != 0)
    return ResourceExhausted("cannot open a pipe: {}", std::strerror(errno));
  return Pipe{Descriptor(fds[0]), Descriptor(fds[1])};
}

// Runs in the child between fork and exec, where only async-signal-safe calls are allowed. Returns only on
// failure.
void BecomeProgram(const char* program, char* const* argv, char* const* envp, const sigset_t& mask,
                   pid_t parent, int in, int out, int err) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(128 + SIGKILL);  // the parent ended before prctl took hold
  if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0) return;
  // The others are as they came to the launcher, which has no handlers: what `nohup` ignores stays ignored.
  for (const int signal : {SIGCHLD, SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  execve(program, argv, envp);
}

}  // namespace

Result<ChildProcess> ChildProcess::Spawn(const ChildCommand& command) {
  LW_CHECK(!command.args.empty());
  LW_ASSIGN_OR_RETURN(Pipe out, OpenPipe());
  LW_ASSIGN_OR_RETURN(Pipe err, OpenPipe());
  LW_ASSIGN_OR_RETURN(Pipe failure, OpenPipe());  // closed by a successful exec, else carries errno
  const Descriptor null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::vector<char*> argv = ExecPointers(command.args);
  const std::vector<char*> envp = ExecPointers(command.environment);

  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return ResourceExhausted("cannot start {}: {}", command.args[0], std::strerror(errno));
  if (pid == 0) {
    BecomeProgram(command.program.c_str(), argv.data(), envp.data(), command.signal_mask, parent, null.fd(),
                  out.write.fd(), err.write.fd());
    const int error = errno;
    [[maybe_unused]] const ssize_t written = write(failure.write.fd(), &error, sizeof error);
    _exit(127);
  }
  setpgid(pid, pid);  // both sides do it: whoever comes first, the group is there when Spawn returns
  ChildProcess child(pid);
  failure.write = Descriptor();
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(failure.read.fd(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof error)) {
    return NotFound("cannot run {}: {}", command.program, std::strerror(error));  // ~ChildProcess reaps
  }
  for (const Pipe* pipe : {&out, &err}) fcntl(pipe->read.fd(), F_SETFL, O_NONBLOCK);
  child.out = std::move(out.read);
  child.err = std::move(err.read);
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : out(std::move(other.out)),
      err(std::move(other.err)),
      pid_(std::exchange(other.pid_, -1)),
      reaped_(other.reaped_) {}

ChildProcess::~ChildProcess() {
  if (!running()) return;
  Signal(SIGKILL);
  Reap();
}

void ChildProcess::Signal(int signal) const {
  if (running()) kill(-pid_, signal);
}

bool ChildProcess::HasEnded() const {
  if (!running()) return false;
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid_;
}

ProcessEnd ChildProcess::Reap() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  reaped_ = true;
  if (WIFSIGNALED(status)) return {128 + WTERMSIG(status), WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

std::string DescribeEnd(const ProcessEnd& end) {
  if (end.signal == 0) return fmt::format("exit code {}", end.exit_code);
  return fmt::format("exit code {} (signal {}, {})", end.exit_code, end.signal, strsignal(end.signal));
}

}  // namespace leeway::app
