#include "launch/launcher.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "base/errors.h"
#include "cli/quantity.h"
#include "inspect/checkpoint_folder.h"
#include "launch/guard.h"
#include "launch/job_commands.h"
#include "launch/job_processes.h"
#include "launch/monitor_client.h"
#include "launch/progress.h"
#include "launch/screen.h"
#include "launch/signal_inbox.h"
#include "launch/summary.h"
#include "launch/text_file.h"
#include "launch/who_waits.h"
#include "role/checkpoint_flags.h"
#include "role/loss_flags.h"

namespace leeway::app {
namespace {

using SteadyClock = std::chrono::steady_clock;

// What may follow from something else waits this long for it:
// - A role's failure for a worker's: when the only worker fails, the scheduler may end before it, and the
//   user's own exit code says more.
// - A worker's exit code of 128 and above for the end of scheduler or server that it may tell of.
// - The loss of a worker while the job gathers for the news that it has begun meanwhile.
constexpr std::chrono::milliseconds kCauseFirst{1'000};

// There is something to go back to.
bool CanRollBack(const LaunchOptions& options) {
  return options.rollback && !options.scheduler.checkpoint.folder.empty() &&
         OneCheckpoint(options.scheduler.checkpoint.folder).ok();
}

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
        progress_(options.scheduler.job.workers) {
    outcome_.lives = WorkerLives(options.scheduler.job.workers, options.restart);
  }

  int Run();
  // A server or the scheduler died, and that ended the job.
  [[nodiscard]] const std::string& role_lost() const { return role_lost_; }
  [[nodiscard]] bool interrupted() const { return interrupted_; }

 private:
  struct Failure {
    int exit_code;
    std::string why;
    SteadyClock::time_point act_at;
    bool of_role = false;  // of scheduler or server: says more than a loss
  };
  struct DueStart {
    std::uint32_t rank;
    LifeBegan began;
    SteadyClock::time_point at;
  };
  struct Loss {
    std::uint32_t rank;
    ProcessEnd end;
    SteadyClock::time_point decide_at;
  };

  [[nodiscard]] double Elapsed() const {
    return std::chrono::duration<double>(SteadyClock::now() - begin_).count();
  }
  void Start(JobRole role, std::uint32_t index, ChildCommand command);
  void StartAll();
  void StartWorker(std::uint32_t rank, LifeBegan began);
  void Step(std::chrono::milliseconds timeout);
  void OnSignal(int signal);
  void OnEnded(const EndedProcess& ended);
  void OnRoleEnded(const EndedProcess& ended);
  void OnWorkerEnded(std::uint32_t rank, const ProcessEnd& end);
  void OnLost(std::uint32_t rank, const ProcessEnd& end);
  // False: it is too early to tell.
  bool Decide(const Loss& loss);
  void DecideLosses();
  void StartDue(SteadyClock::time_point now);
  void EndStragglers(SteadyClock::time_point now);
  void Fail(Failure failure);
  [[nodiscard]] bool HasBegun() const { return outcome_.status && outcome_.status->phase != "gathering"; }
  [[nodiscard]] WorkerStatus StatusOf(std::uint32_t rank) const;
  // A later life that ended without having joined, because the job was over.
  [[nodiscard]] bool CameTooLate(std::uint32_t rank, const ProcessEnd& end) const;
  // None runs, and none will.
  [[nodiscard]] bool NoWorkerLeft() const {
    return processes_.Running(JobRole::kWorker) == 0 && due_.empty();
  }
  void TellWhoWaits();
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
  std::optional<Failure> failure_;  // waits for one that says more
  std::string scheduler_;           // its address
  bool scheduler_done_ = false;     // it has ended
  bool job_done_ = false;           // and well
  std::vector<DueStart> due_;
  std::map<std::uint32_t, std::uint64_t> joined_before_;  // of those started again: lives that had joined
  std::vector<Loss> undecided_;                           // lost, perhaps before the job began
  std::optional<SteadyClock::time_point> stragglers_until_;
  std::optional<double> gathered_s_, workers_ended_s_;
  std::string role_lost_;
};

void Launch::Start(JobRole role, std::uint32_t index, ChildCommand command) {
  if (ending_) return;
  command.signal_mask = signals_.outer_mask();
  const Status started = processes_.Start(role, index, command);
  if (!started.ok()) End(ExitCode(started), fmt::format("{}: {}", NameOf(role, index), started.message()));
}

void Launch::StartAll() {
  Start(JobRole::kScheduler, 0, SchedulerCommandOf(program_, options_, files_));
  while (scheduler_.empty() && !ending_ && processes_.Running() > 0) {
    Step(std::chrono::milliseconds(5));
    if (Result<std::string> address = ReadTextFile(files_.address()); address.ok()) {
      scheduler_ = address->substr(0, address->find('\n'));
    }
  }
  if (scheduler_.empty()) return;
  const JobOptions& job = options_.scheduler.job;
  for (std::uint32_t i = 0; i < job.servers; ++i) {
    Start(JobRole::kServer, i, ServerCommandOf(program_, options_, scheduler_, i));
  }
  for (std::uint32_t i = 0; i < job.workers; ++i) StartWorker(i, LifeBegan::kStart);
  monitor_ = std::make_unique<MonitorClient>(scheduler_, job.job, options_.status_every);
}

void Launch::StartWorker(std::uint32_t rank, LifeBegan began) {
  if (ending_) return;
  outcome_.lives.Start(rank, began);
  Start(JobRole::kWorker, rank,
        WorkerCommandOf(program_, options_, scheduler_, rank, outcome_.lives.RestartsOf(rank), found_));
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
  if (signal == SIGQUIT) TellWhoWaits();
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
  if (ended.role != JobRole::kWorker) return OnRoleEnded(ended);
  OnWorkerEnded(ended.index, ended.end);
  if (!NoWorkerLeft()) return;
  workers_ended_s_ = Elapsed();
  if (outcome_.lives.CountNow(LifeEnd::kDone) > 0) settle_at_ = SteadyClock::now() + options_.settle;
}

void Launch::OnRoleEnded(const EndedProcess& ended) {
  const int exit_code = ended.end.exit_code;
  // (A role that ends by itself with an error says why; one that a signal ended could say nothing.)
  if (ended.end.signal != 0 && !ending_ && role_lost_.empty()) {
    role_lost_ = fmt::format("{} ended with {}", NameOf(ended.role, ended.index), DescribeEnd(ended.end));
  }
  if (exit_code != 0 && !ending_) {
    Fail({exit_code, fmt::format("{} ended with {}", NameOf(ended.role, ended.index), DescribeEnd(ended.end)),
          SteadyClock::now() + kCauseFirst, true});
  }
  if (ended.role != JobRole::kScheduler) return;
  scheduler_done_ = true;
  job_done_ = exit_code == 0;
  due_.clear();  // there is nothing to come back to
  // Its last status: the job is over, though scripts may have more to do.
  if (job_done_) TakeLastStatus();
}

void Launch::OnWorkerEnded(std::uint32_t rank, const ProcessEnd& end) {
  const LifeEnd how = outcome_.lives.End(rank, end, ending_);
  if (how != LifeEnd::kFailed && how != LifeEnd::kLost) return;
  if (CameTooLate(rank, end)) {
    outcome_.lives.MarkLate(rank);
    screen_.Line(STDERR_FILENO, "leeway: ",
                 fmt::format("{} came back when the job was over", NameOf(JobRole::kWorker, rank)));
  } else if (how == LifeEnd::kLost) {
    OnLost(rank, end);
  } else {
    End(end.exit_code, fmt::format("{} ended with {}", NameOf(JobRole::kWorker, rank), DescribeEnd(end)));
  }
}

WorkerStatus Launch::StatusOf(std::uint32_t rank) const {
  if (!outcome_.status) return {};
  for (const WorkerStatus& worker : outcome_.status->workers) {
    if (worker.rank == rank) return worker;
  }
  return {};
}

bool Launch::CameTooLate(std::uint32_t rank, const ProcessEnd& end) const {
  const auto before = joined_before_.find(rank);
  if (before == joined_before_.end() || StatusOf(rank).incarnation != before->second) return false;
  if (outcome_.lives.CountNow(LifeEnd::kDone) == 0) return false;
  // Nobody can join a job that everyone has left; the scheduler may be there a moment longer to say so.
  const bool refused = end.signal == 0 && end.exit_code == ExitCode(FailedPrecondition(""));
  return job_done_ || (refused && processes_.Running(JobRole::kWorker) == 0);
}

void Launch::OnLost(std::uint32_t rank, const ProcessEnd& end) {
  // The job is over, or about to be for another reason: what that does to its workers is no loss to act on.
  if (job_done_ || failure_) return;
  WorkerLives::NextLife next;
  if (!scheduler_done_ && outcome_.lives.TakeNext(rank, next)) {
    due_.push_back({rank, next.began, SteadyClock::now() + next.back_off});
    screen_.Line(STDERR_FILENO, "leeway: ",
                 fmt::format("{} ended with {}; starting it again in {} ({})", NameOf(JobRole::kWorker, rank),
                             DescribeEnd(end), PrintTime(next.back_off), next.why));
    return;
  }
  const Loss loss{rank, end, SteadyClock::now() + kCauseFirst};
  if (!Decide(loss)) undecided_.push_back(loss);
}

bool Launch::Decide(const Loss& loss) {
  const SchedulerOptions& s = options_.scheduler;
  const bool early = SteadyClock::now() < loss.decide_at;
  if (early && loss.end.signal == 0) return false;
  const std::string what =
      fmt::format("{} ended with {}", NameOf(JobRole::kWorker, loss.rank), DescribeEnd(loss.end));
  const auto fail = [&](const std::string& why) {
    Fail({loss.end.exit_code, why, SteadyClock::now()});
    return true;
  };
  if (s.on_worker_loss == OnWorkerLoss::kFail) return fail(what);
  if (NoWorkerLeft() && outcome_.lives.CountNow(LifeEnd::kDone) == 0) {
    return fail(s.job.workers > 1 ? what + ", the last one" : what);
  }
  if (!HasBegun()) {
    if (early) return false;
    const std::size_t left = s.job.workers - outcome_.lives.CountNow(LifeEnd::kLost);
    if (s.min_workers == 0 || left < s.min_workers) return fail(what + " before the job had begun");
  }
  const bool keeps = s.on_worker_loss == OnWorkerLoss::kWait;
  screen_.Line(STDERR_FILENO, "leeway: ",
               keeps ? fmt::format("{}; its place is kept for {} (LEEWAY_SCHEDULER={} LEEWAY_JOB={} "
                                   "LEEWAY_RANK={} starts another)",
                                   what, PrintTime(s.gather_timeout), scheduler_, s.job.job, loss.rank)
                     : fmt::format("{}; the job goes on without it", what));
  return true;
}

void Launch::DecideLosses() {
  std::erase_if(undecided_, [this](const Loss& loss) { return failure_ || job_done_ || Decide(loss); });
}

void Launch::StartDue(SteadyClock::time_point now) {
  if (failure_) return;
  std::vector<DueStart> later;
  for (const DueStart& due : std::exchange(due_, {})) {
    if (now < due.at) {
      later.push_back(due);
    } else {
      // Now, not at the loss: by the end of the back-off the status surely knows of the life before.
      joined_before_[due.rank] = StatusOf(due.rank).incarnation;
      StartWorker(due.rank, due.began);
    }
  }
  if (!ending_) due_ = std::move(later);
}

// The job is over, and only those run on that it had declared dead: stopped, stuck, or a new life on its way.
void Launch::EndStragglers(SteadyClock::time_point now) {
  if (!job_done_ || settle_at_) return;
  std::vector<std::uint32_t> stragglers;
  for (std::uint32_t rank = 0; rank < options_.scheduler.job.workers; ++rank) {
    if (!processes_.IsRunning(JobRole::kWorker, rank)) continue;
    if (StatusOf(rank).state != "dead") return;
    stragglers.push_back(rank);
  }
  if (stragglers.empty()) return;
  if (!stragglers_until_) stragglers_until_ = now + options_.straggle;
  if (now < *stragglers_until_) return;
  for (const std::uint32_t rank : stragglers) {
    screen_.Line(STDERR_FILENO, "leeway: ",
                 fmt::format("{} is no member of the job and has not ended with it; killing it",
                             NameOf(JobRole::kWorker, rank)));
    processes_.Signal(JobRole::kWorker, rank, SIGKILL);
  }
  stragglers_until_ = now + options_.straggle;
}

void Launch::Fail(Failure failure) {
  if (!failure_ || (failure.of_role && !failure_->of_role)) failure_ = std::move(failure);
}

void Launch::TellWhoWaits() {
  std::string text = outcome_.status ? WhoWaitsText(*outcome_.status)
                                     : std::string("The scheduler has not said anything yet.\n");
  text.pop_back();  // its end of line comes with Line
  screen_.Line(STDERR_FILENO, "", text);
}

void Launch::OnTime() {
  const auto now = SteadyClock::now();
  if (kill_at_ && now >= *kill_at_) {
    processes_.SignalAll(SIGKILL);
    kill_at_.reset();
  }
  if (ending_) return;
  StartDue(now);
  EndStragglers(now);
  DecideLosses();
  if (ending_ || !undecided_.empty()) return;
  if (failure_ && (now >= failure_->act_at || settle_at_)) {
    End(failure_->exit_code, failure_->why);
  } else if (settle_at_) {
    // A command that never joined (`leeway run -- hostname`) leaves a scheduler that would wait for it.
    if (!HasBegun() || now >= *settle_at_) End(0, "");
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
  due_.clear();
  undecided_.clear();
  processes_.SignalAll(SIGTERM);
  processes_.SignalAll(SIGCONT);  // what was stopped hears of it too
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
  if (options_.quiet || (!role_lost_.empty() && !interrupted_ && CanRollBack(options_))) return;
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
  LW_ASSIGN_OR_RETURN(SignalInbox signals,
                      SignalInbox::Open({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, SIGPIPE}));
  LW_ASSIGN_OR_RETURN(const Descriptor stop, SignalInbox::Watch({SIGINT, SIGTERM, SIGHUP}));
  LaunchOptions now = options;
  const auto say = [](const std::string& line) { fmt::print(stderr, "leeway: {}\n", line); };
  LW_RETURN_IF_ERROR(ChooseResume(now.scheduler.checkpoint, say));
  for (std::uint32_t rollbacks = 0;; ++rollbacks) {
    LW_ASSIGN_OR_RETURN(const std::string folder, MakeFolder(program.environment));
    LW_ASSIGN_OR_RETURN(const Guard guard, Guard::Start(folder));
    Launch launch(program, now, LaunchFiles{folder}, found, signals, stop, guard);
    const int exit_code = launch.Run();
    if (launch.role_lost().empty() || launch.interrupted()) return exit_code;
    if (!CanRollBack(now)) {
      const Result<std::string> newest = OneCheckpoint(now.scheduler.checkpoint.folder);
      if (newest.ok()) say(fmt::format("go on from its newest checkpoint with --resume {}", *newest));
      return exit_code;
    }
    if (rollbacks == now.rollbacks_max) {
      say(fmt::format("{}, after {} rollbacks already; giving up", launch.role_lost(), rollbacks));
      return exit_code;
    }
    now.scheduler.checkpoint.resume = now.scheduler.checkpoint.folder;
    LW_RETURN_IF_ERROR(ChooseResume(now.scheduler.checkpoint, say));
    say(fmt::format("{}; the job goes back to {}", launch.role_lost(), now.scheduler.checkpoint.resume));
  }
}

}  // namespace leeway::app
