#include "launch/launcher.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "base/errors.h"
#include "launch/guard.h"
#include "launch/job_commands.h"
#include "launch/job_processes.h"
#include "launch/monitor_client.h"
#include "launch/progress.h"
#include "launch/screen.h"
#include "launch/signal_inbox.h"
#include "launch/summary.h"
#include "launch/text_file.h"

namespace leeway::app {
namespace {

using SteadyClock = std::chrono::steady_clock;

// A role's failure waits this long for a worker's: when the only worker fails, the scheduler may end before
// it, and the user's own exit code says more.
constexpr std::chrono::milliseconds kWorkerFirst{1'000};

class Launch {
 public:
  Launch(const Program& program, const LaunchOptions& options, LaunchFiles files, std::string found,
         SignalInbox& signals, const Descriptor& stop, const Guard& guard)
      : program_(program),
        options_(options),
        files_(std::move(files)),
        found_(std::move(found)),
        signals_(signals),
        screen_(Screen::StderrIsTerminal() && !options.quiet, stop.get()),
        processes_(screen_, guard, options.prefix),
        progress_(options.scheduler.job.workers) {}

  int Run();

 private:
  struct Failure {
    int exit_code;
    std::string why;
    SteadyClock::time_point act_at;
  };

  [[nodiscard]] double Elapsed() const {
    return std::chrono::duration<double>(SteadyClock::now() - begin_).count();
  }
  void Start(JobRole role, std::uint32_t index, ChildCommand command);
  void StartAll();
  void Step(std::chrono::milliseconds timeout);
  void OnSignal(int signal);
  void OnEnded(const EndedProcess& ended);
  void OnTime();
  void Show();
  void End(int exit_code, const std::string& why);
  void TakeStatus(const std::string& json);
  void TakeLastStatus();
  void Conclude();

  const Program& program_;
  const LaunchOptions& options_;
  const LaunchFiles files_;
  const std::string found_;
  SignalInbox& signals_;
  Screen screen_;
  JobProcesses processes_;
  std::unique_ptr<MonitorClient> monitor_;
  Progress progress_;
  Outcome outcome_;

  const SteadyClock::time_point begin_ = SteadyClock::now();
  SteadyClock::time_point shown_ = begin_;
  bool ending_ = false;
  bool interrupted_ = false;
  std::optional<SteadyClock::time_point> kill_at_;  // of what SIGTERM did not end
  std::optional<SteadyClock::time_point>
      settle_at_;                   // all workers have ended well: the rest may end by itself until then
  std::optional<Failure> failure_;  // of scheduler or server, waiting for a worker's
  std::optional<double> gathered_s_, workers_ended_s_;
};

void Launch::Start(JobRole role, std::uint32_t index, ChildCommand command) {
  if (ending_) return;
  command.signal_mask = signals_.outer_mask();
  const Status started = processes_.Start(role, index, command);
  if (!started.ok()) End(ExitCode(started), fmt::format("{}: {}", NameOf(role, index), started.message()));
}

void Launch::StartAll() {
  Start(JobRole::kScheduler, 0, SchedulerCommandOf(program_, options_, files_));
  std::string scheduler;
  while (scheduler.empty() && !ending_ && processes_.Running() > 0) {
    Step(std::chrono::milliseconds(5));
    if (Result<std::string> address = ReadTextFile(files_.address()); address.ok()) {
      scheduler = address->substr(0, address->find('\n'));
    }
  }
  if (scheduler.empty()) return;
  const JobOptions& job = options_.scheduler.job;
  for (std::uint32_t i = 0; i < job.servers; ++i) {
    Start(JobRole::kServer, i, ServerCommandOf(program_, options_, scheduler, i));
  }
  for (std::uint32_t i = 0; i < job.workers; ++i) {
    Start(JobRole::kWorker, i, WorkerCommandOf(program_, options_, scheduler, i, found_));
  }
  monitor_ = std::make_unique<MonitorClient>(scheduler, job.job, options_.status_every);
}

int Launch::Run() {
  StartAll();
  while (processes_.Running() > 0) Step(std::chrono::milliseconds(100));
  if (failure_ && !ending_) End(failure_->exit_code, failure_->why);
  Conclude();
  return outcome_.exit_code;
}

void Launch::Step(std::chrono::milliseconds timeout) {
  processes_.Wait(signals_.fd(), static_cast<int>(timeout.count()));
  while (const std::optional<int> signal = signals_.Next()) OnSignal(*signal);
  for (const EndedProcess& ended : processes_.Reap()) OnEnded(ended);
  if (monitor_) {
    if (const std::optional<std::string> json = monitor_->Take()) TakeStatus(*json);
  }
  OnTime();
  Show();
}

void Launch::OnSignal(int signal) {
  if (signal != SIGINT && signal != SIGTERM && signal != SIGHUP) return;  // SIGCHLD only wakes
  if (interrupted_) {
    processes_.SignalAll(SIGKILL);
    return;
  }
  interrupted_ = true;
  screen_.Hurry();
  const char* name = signal == SIGINT ? "Ctrl-C" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
  End(128 + signal, fmt::format("ended by {}", name));
}

void Launch::OnEnded(const EndedProcess& ended) {
  const std::string name = NameOf(ended.role, ended.index);
  const int exit_code = ended.end.exit_code;
  if (exit_code != 0 && !ending_) {
    std::string why = fmt::format("{} ended with {}", name, DescribeEnd(ended.end));
    if (ended.role == JobRole::kWorker) {
      End(exit_code, why);
    } else if (!failure_) {
      failure_ = Failure{exit_code, std::move(why), SteadyClock::now() + kWorkerFirst};
    }
  }
  // Its last status: the job is over, though scripts may have more to do.
  if (ended.role == JobRole::kScheduler && exit_code == 0) TakeLastStatus();
  if (ended.role == JobRole::kWorker && processes_.Running(JobRole::kWorker) == 0) {
    workers_ended_s_ = Elapsed();
    settle_at_ = SteadyClock::now() + options_.settle;
  }
}

void Launch::OnTime() {
  const auto now = SteadyClock::now();
  if (kill_at_ && now >= *kill_at_) {
    processes_.SignalAll(SIGKILL);
    kill_at_.reset();
  }
  if (ending_) return;
  if (failure_ && (now >= failure_->act_at || settle_at_)) {
    End(failure_->exit_code, failure_->why);
  } else if (settle_at_) {
    // A command that never joined (`leeway run -- hostname`) leaves a scheduler that would wait for it.
    const bool never_joined = !outcome_.status || outcome_.status->phase == "gathering";
    if (never_joined || now >= *settle_at_) End(0, "");
  }
}

void Launch::Show() {
  if (options_.quiet || ending_ || settle_at_) return;
  const auto now = SteadyClock::now();
  if (screen_.terminal()) {
    if (now - shown_ < std::chrono::milliseconds(200)) return;
    screen_.Bar(progress_.Bar(Elapsed()));
  } else {
    if (now - shown_ < options_.line_every) return;
    screen_.Line(STDERR_FILENO, "leeway: ", progress_.Line(Elapsed()));
  }
  shown_ = now;
}

void Launch::End(int exit_code, const std::string& why) {
  if (ending_) return;
  ending_ = true;
  outcome_.exit_code = exit_code;
  outcome_.why = why;
  processes_.SignalAll(SIGTERM);
  kill_at_ = SteadyClock::now() + options_.term_grace;
  screen_.ClearBar();
  if (!why.empty()) {
    const std::string rest = processes_.Running() > 0 ? "; ending the job" : "";
    screen_.Line(STDERR_FILENO,
                 "leeway: ", why + rest + (interrupted_ ? " (once more to kill it at once)" : ""));
  }
}

void Launch::TakeStatus(const std::string& json) {
  Result<JobStatus> status = ParseJobStatus(json);
  if (!status.ok()) return;
  progress_.Add(*status, Elapsed());
  if (status->phase != "gathering" && !gathered_s_) gathered_s_ = Elapsed();
  outcome_.status = std::move(*status);
  outcome_.status_json = json;
}

// The scheduler's last word holds figures that came after the last status asked for.
void Launch::TakeLastStatus() {
  if (const Result<std::string> json = ReadTextFile(files_.status()); json.ok()) TakeStatus(*json);
}

void Launch::Conclude() {
  monitor_.reset();
  screen_.ClearBar();
  TakeLastStatus();
  const double total_s = Elapsed();
  const double ended_s = workers_ended_s_.value_or(total_s);
  const double gathered_s = std::min(gathered_s_.value_or(ended_s), ended_s);
  outcome_.times = {gathered_s, ended_s - gathered_s, total_s - ended_s};
  // The file first: it waits for no reader.
  if (!options_.summary_json.empty()) {
    const Status written = WriteTextFile(options_.summary_json, SummaryJson(outcome_));
    if (!written.ok()) {
      screen_.Line(STDERR_FILENO, "leeway: ", "summary: " + written.message());
      if (outcome_.exit_code == 0)
        outcome_.exit_code = ExitCode(written);  // whoever reads it must hear of it
    }
  }
  if (options_.quiet) return;
  std::string text = SummaryText(outcome_);
  text.pop_back();  // its end of line comes with Line
  screen_.Line(STDOUT_FILENO, "\n", text);
}

Result<std::string> MakeFolder(const Environment& environment) {
  std::string folder = environment.Get("TMPDIR").value_or("/tmp") + "/leeway-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr)
    return ResourceExhausted("cannot make the folder {}: {}", folder, std::strerror(errno));
  return folder;
}

}  // namespace

Result<int> LaunchJob(const Program& program, const LaunchOptions& options) {
  if (options.command.empty())
    return InvalidArgument("no command given; wanted one after \"--\", such as: -- python3 train.py");
  LW_ASSIGN_OR_RETURN(const std::string found, program.environment.FindProgram(options.command[0]));
  // Whoever started us may ignore it, and then no child could be waited for.
  std::signal(SIGCHLD, SIG_DFL);
  // SIGPIPE is among them so that a reader of our output that went away does not end the job halfway.
  LW_ASSIGN_OR_RETURN(SignalInbox signals, SignalInbox::Open({SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE}));
  LW_ASSIGN_OR_RETURN(const Descriptor stop, SignalInbox::Watch({SIGINT, SIGTERM, SIGHUP}));
  LW_ASSIGN_OR_RETURN(const std::string folder, MakeFolder(program.environment));
  LW_ASSIGN_OR_RETURN(const Guard guard, Guard::Start(folder));
  return Launch(program, options, LaunchFiles{folder}, found, signals, stop, guard).Run();
}

}  // namespace leeway::app
