#include "launch/guard.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/errors.h"

namespace leeway::app {
namespace {

// Away from the launcher's terminal, signals and output: a reader of that output must not wait for the guard.
void Detach() {
  setsid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_IGN);
  const int null = open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, fd);
  if (null > STDERR_FILENO) close(null);
  prctl(PR_SET_NAME, "leeway-guard");
}

[[noreturn]] void StandGuard(int pipe, const std::string& folder) {
  Detach();
  std::set<pid_t> groups;
  for (;;) {
    pid_t word = 0;  // a group to watch, or its negative to forget; 4 bytes to a pipe are written whole
    const ssize_t got = read(pipe, &word, sizeof word);
    if (got < 0 && errno == EINTR) continue;
    if (got != static_cast<ssize_t>(sizeof word)) break;
    if (word > 0) groups.insert(word);
    if (word < 0) groups.erase(-word);
  }
  for (const pid_t group : groups) kill(-group, SIGKILL);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  _exit(0);
}

}  // namespace

Result<Guard> Guard::Start(const std::string& folder) {
  std::array<int, 2> fds{};
  if (pipe2(fds.data(), O_CLOEXEC) != 0)
    return ResourceExhausted("cannot open a pipe: {}", std::strerror(errno));
  Descriptor read_end(fds[0]);
  Descriptor write_end(fds[1]);
  const pid_t pid = fork();
  if (pid < 0) return ResourceExhausted("cannot start the guard: {}", std::strerror(errno));
  if (pid == 0) {
    write_end = Descriptor();
    StandGuard(read_end.fd(), folder);
  }
  return Guard(pid, std::move(write_end));
}

Guard::Guard(Guard&& other) noexcept : pid_(std::exchange(other.pid_, -1)), pipe_(std::move(other.pipe_)) {}

Guard::~Guard() {
  if (pid_ < 0) return;
  pipe_ = Descriptor();
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

void Guard::Watch(pid_t group) const { Tell(group); }
void Guard::Forget(pid_t group) const { Tell(-group); }

void Guard::Tell(pid_t signed_group) const {
  // A guard that was killed breaks the pipe (SIGPIPE is blocked by the launcher); the kernel's death signal
  // still holds.
  [[maybe_unused]] const ssize_t written = write(pipe_.fd(), &signed_group, sizeof signed_group);
}

}  // namespace leeway::app
