// ChildProcess: one process that this one started: its output to read, its end to wait for.
//
// A child leads a process group of its own, so that a signal reaches what it started too, and it is killed by
// the kernel when the thread that started it ends (PR_SET_PDEATHSIG). Thread rule: one thread, the one that
// spawns.
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include "leeway/status.h"
#include "transport/system/descriptor.h"

namespace leeway::app {

struct ChildCommand {
  std::string program;                   // a path; no search
  std::vector<std::string> args;         // args[0] is the name that the child sees
  std::vector<std::string> environment;  // "NAME=value"
  sigset_t signal_mask{};                // what the child starts with
};

struct ProcessEnd {
  int exit_code = 0;  // 128 + n for signal n, as in a shell
  int signal = 0;     // that ended it; 0: it ended by itself, with whatever code
};

class ChildProcess {
 public:
  // Returns once the child runs the program, or says why it cannot. Its stdin is /dev/null.
  static Result<ChildProcess> Spawn(const ChildCommand& command);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();  // kills and reaps what still runs

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool running() const { return pid_ > 0 && !reaped_; }
  // To the whole group; nothing when it has ended.
  void Signal(int signal) const;
  // True when it has ended and is not reaped yet: until then its pid and group cannot belong to anyone else.
  [[nodiscard]] bool HasEnded() const;
  // Gives its pid and group back to the system. REQUIRES: HasEnded().
  ProcessEnd Reap();

  Descriptor out;  // non-blocking
  Descriptor err;

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}

  pid_t pid_ = -1;
  bool reaped_ = false;
};

// "exit code 3", or "exit code 137 (signal 9, Killed)".
[[nodiscard]] std::string DescribeEnd(const ProcessEnd& end);

}  // namespace leeway::app
