// JobProcesses: the processes of one launched job: their output goes to the screen, their ends are reported.
#pragma once

#include <poll.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "launch/child_process.h"
#include "launch/guard.h"
#include "launch/line_splitter.h"
#include "launch/screen.h"
#include "leeway/status.h"

namespace leeway::app {

enum class JobRole : std::uint8_t { kScheduler, kServer, kWorker };

// "scheduler", "server 1", "worker 3".
[[nodiscard]] std::string NameOf(JobRole role, std::uint32_t index);

struct EndedProcess {
  JobRole role = JobRole::kWorker;
  std::uint32_t index = 0;
  ProcessEnd end;
};

class JobProcesses {
 public:
  // `prefix`: whether lines say which process they come from.
  JobProcesses(Screen& screen, const Guard& guard, bool prefix)
      : screen_(screen), guard_(guard), prefix_(prefix) {}

  [[nodiscard]] Status Start(JobRole role, std::uint32_t index, const ChildCommand& command);
  // Waits until there is output or `wake_fd` is readable, at most `timeout_ms`, then forwards the output.
  void Wait(int wake_fd, int timeout_ms);
  // What has ended since the last call, its output forwarded before.
  [[nodiscard]] std::vector<EndedProcess> Reap();
  void SignalAll(int signal) const;
  void SignalAll(JobRole role, int signal) const;
  void Signal(JobRole role, std::uint32_t index, int signal) const;
  [[nodiscard]] bool IsRunning(JobRole role, std::uint32_t index) const;
  // Of those that run.
  [[nodiscard]] std::vector<pid_t> Pids(JobRole role) const;
  [[nodiscard]] std::size_t Running(JobRole role) const;
  [[nodiscard]] std::size_t Running() const;

 private:
  struct Process {
    JobRole role;
    std::uint32_t index;
    ChildProcess child;
    LineSplitter out;
    LineSplitter err;
  };

  void Forward(Process& process);
  static void Drain(Descriptor& from, LineSplitter& to);

  Screen& screen_;
  const Guard& guard_;
  const bool prefix_;
  std::deque<Process> processes_;  // a deque: processes do not move
};

}  // namespace leeway::app
