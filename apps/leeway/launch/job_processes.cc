#include "launch/job_processes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

namespace leeway::app {
namespace {

std::string PrefixOf(JobRole role, std::uint32_t index) {
  if (role == JobRole::kScheduler) return "[scheduler] ";
  return fmt::format("[{}{}] ", role == JobRole::kServer ? 's' : 'w', index);
}

// Lines of scheduler and servers wait this long: a worker's own end may explain them, and comes later.
constexpr std::chrono::milliseconds kRoleDelay{500};
// Of a process that has left no traceback.
constexpr std::size_t kLastLines = 10;

// Bounded, so that a script that prints without end cannot keep the launcher from its other work.
constexpr int kReadsPerTurn = 16;

}  // namespace

std::string NameOf(JobRole role, std::uint32_t index) {
  if (role == JobRole::kScheduler) return "scheduler";
  return fmt::format("{} {}", role == JobRole::kServer ? "server" : "worker", index);
}

Status JobProcesses::Start(JobRole role, std::uint32_t index, const ChildCommand& command) {
  LW_ASSIGN_OR_RETURN(ChildProcess child, ChildProcess::Spawn(command));
  guard_.Watch(child.pid());
  processes_.push_back(Process{role, index, std::move(child), OutputOf(role, index, STDOUT_FILENO),
                               OutputOf(role, index, STDERR_FILENO)});
  return Status::Ok();
}

std::unique_ptr<StreamOutput> JobProcesses::OutputOf(JobRole role, std::uint32_t index, int fd) {
  StreamOptions options;
  options.fd = fd;
  if (prefix_) options.prefix = PrefixOf(role, index);
  options.key = fmt::format("{:06}.{}", index, fd);  // as ranks are ordered
  if (role != JobRole::kWorker) {
    options.delay = kRoleDelay;
    options.last_words = role == JobRole::kScheduler ? "leeway scheduler: " : "leeway server: ";
  }
  return std::make_unique<StreamOutput>(screen_, std::move(options));
}

void JobProcesses::Wait(int wake_fd, int timeout_ms) {
  std::vector<pollfd> fds{{wake_fd, POLLIN, 0}};
  for (const Process& process : processes_) {
    for (const Descriptor* from : {&process.child.out, &process.child.err}) {
      if (from->fd() >= 0) fds.push_back({from->fd(), POLLIN, 0});
    }
  }
  poll(fds.data(), fds.size(), timeout_ms);
  const auto now = StreamOutput::Clock::now();
  for (Process& process : processes_) {
    Forward(process);
    process.out->Tick(now);
    process.err->Tick(now);
  }
}

std::vector<EndedProcess> JobProcesses::Reap() {
  std::vector<EndedProcess> ended;
  for (Process& process : processes_) {
    if (!process.child.HasEnded()) continue;
    // Its leader is still there as a zombie, so the group's number is surely its own: end what it left
    // behind.
    process.child.Signal(SIGKILL);
    guard_.Forget(process.child.pid());
    const ProcessEnd end = process.child.Reap();
    Forward(process);
    const auto now = StreamOutput::Clock::now();
    process.out->Finish(now);
    process.err->Finish(now);
    process.child.out = Descriptor();
    process.child.err = Descriptor();
    ended.push_back({process.role, process.index, end});
  }
  return ended;
}

void JobProcesses::ShowDelayed() {
  for (const Process& process : processes_) {
    process.out->Release();
    process.err->Release();
  }
}

void JobProcesses::DropDelayed() {
  for (const Process& process : processes_) {
    process.out->Drop();
    process.err->Drop();
  }
}

const JobProcesses::Process* JobProcesses::Newest(JobRole role, std::uint32_t index) const {
  const Process* newest = nullptr;
  for (const Process& process : processes_) {
    if (process.role == role && process.index == index) newest = &process;
  }
  return newest;
}

std::string JobProcesses::LastWords(JobRole role, std::uint32_t index) const {
  const Process* process = Newest(role, index);
  return process == nullptr ? "" : process->err->last_words();
}

std::vector<std::string> JobProcesses::CoveredTail(JobRole role, std::uint32_t index, bool others) const {
  const Process* process = Newest(role, index);
  if (process == nullptr || !process->err->IsCovered()) return {};
  const std::deque<std::string>& tail = process->err->tail();
  const auto is_traceback = [](const std::string& line) {
    return line.starts_with("Traceback (most recent");
  };
  const auto traceback = std::ranges::find_if(tail, is_traceback);
  if (traceback != tail.end()) return {traceback, tail.end()};
  if (!others) return {};
  return {tail.end() - static_cast<std::ptrdiff_t>(std::min(tail.size(), kLastLines)), tail.end()};
}

bool JobProcesses::HasSaid(JobRole role, std::uint32_t index, std::string_view text) const {
  const Process* process = Newest(role, index);
  return process != nullptr && std::ranges::any_of(process->err->tail(), [&](const std::string& line) {
           return line.find(text) != std::string::npos;
         });
}

void JobProcesses::SignalAll(int signal) const {
  for (const Process& process : processes_) process.child.Signal(signal);
}

void JobProcesses::SignalAll(JobRole role, int signal) const {
  for (const Process& process : processes_) {
    if (process.role == role) process.child.Signal(signal);
  }
}

void JobProcesses::Signal(JobRole role, std::uint32_t index, int signal) const {
  for (const Process& process : processes_) {
    if (process.role == role && process.index == index) process.child.Signal(signal);
  }
}

bool JobProcesses::IsRunning(JobRole role, std::uint32_t index) const {
  return std::ranges::any_of(processes_, [&](const Process& process) {
    return process.role == role && process.index == index && process.child.running();
  });
}

std::vector<pid_t> JobProcesses::Pids(JobRole role) const {
  std::vector<pid_t> pids;
  for (const Process& process : processes_) {
    if (process.role == role && process.child.running()) pids.push_back(process.child.pid());
  }
  return pids;
}

std::size_t JobProcesses::Running(JobRole role) const {
  std::size_t n = 0;
  for (const Process& process : processes_) n += process.role == role && process.child.running() ? 1 : 0;
  return n;
}

std::size_t JobProcesses::Running() const {
  return Running(JobRole::kScheduler) + Running(JobRole::kServer) + Running(JobRole::kWorker);
}

void JobProcesses::Forward(Process& process) {
  Drain(process.child.out, *process.out);
  Drain(process.child.err, *process.err);
}

void JobProcesses::Drain(Descriptor& from, StreamOutput& to) {
  std::array<char, 16 * 1024> bytes{};
  for (int turn = 0; from.fd() >= 0 && turn < kReadsPerTurn; ++turn) {
    const ssize_t n = read(from.fd(), bytes.data(), bytes.size());
    if (n > 0) to.Add({bytes.data(), static_cast<std::size_t>(n)}, StreamOutput::Clock::now());
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) from = Descriptor();
    if (n <= 0) return;
  }
}

}  // namespace leeway::app
