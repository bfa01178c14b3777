// JobProcesses: the processes of one launched job: their output goes to the screen, their ends are reported.
#pragma once

#include <poll.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "launch/guard.h"
#include "launch/stream_output.h"
#include "leeway/status.h"
#include "system/child_process.h"
#include "terminal/screen.h"

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
  // Processes that have ended since the last call. Their output is forwarded before.
  [[nodiscard]] std::vector<EndedProcess> Reap();
  // Lines of scheduler and servers are shown half a second late. ShowDelayed shows them now. DropDelayed
  // drops them when they only follow from a known cause.
  void ShowDelayed();
  void DropDelayed();
  // Why its newest process ended, in its own words; empty: it said nothing.
  [[nodiscard]] std::string LastWords(JobRole role, std::uint32_t index) const;
  // The last lines on stderr of its newest process: its traceback, or (`others`) the last few. Empty: the
  // screen has shown nothing after them, so that nobody needs to see them again.
  [[nodiscard]] std::vector<std::string> CoveredTail(JobRole role, std::uint32_t index, bool others) const;
  // Whether those lines contain this text.
  [[nodiscard]] bool HasSaid(JobRole role, std::uint32_t index, std::string_view text) const;
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
    std::unique_ptr<StreamOutput> out;
    std::unique_ptr<StreamOutput> err;
  };

  [[nodiscard]] std::unique_ptr<StreamOutput> OutputOf(JobRole role, std::uint32_t index, int fd);
  [[nodiscard]] const Process* Newest(JobRole role, std::uint32_t index) const;
  static void Forward(Process& process);
  static void Drain(Descriptor& from, StreamOutput& to);

  Screen& screen_;
  const Guard& guard_;
  const bool prefix_;
  std::deque<Process> processes_;  // a deque: processes do not move
};

}  // namespace leeway::app
