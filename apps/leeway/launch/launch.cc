#include "launch/launch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/errors.h"
#include "cli/quantity.h"
#include "launch/same_batches.h"
#include "launch/text_file.h"
#include "launch/who_waits.h"
#include "launch/worker_program.h"

namespace leeway::app {

Launch::Launch(const Program& program, const LaunchOptions& options, LaunchFiles files, std::string found,
               SignalInbox& signals, const Descriptor& stop, const Guard& guard,
               const JobCheckpoints& checkpoints, JobEvents& events)
    : program_(program),
      options_(options),
      files_(std::move(files)),
      found_(std::move(found)),
      signals_(signals),
      checkpoints_(checkpoints),
      events_(events),
      screen_(Screen::StderrIsTerminal() && !options.quiet, stop.get()),
      processes_(screen_, guard, options.prefix),
      role_restarts_(options.role_restart),
      progress_(options.scheduler.job.workers),
      recorder_(options) {
  outcome_.lives = WorkerLives(options.scheduler.job.workers, options.restart);
}

void Launch::Start(JobRole role, std::uint32_t index, ChildCommand command) {
  if (ending_) return;
  command.signal_mask = signals_.outer_mask();
  const Status started = processes_.Start(role, index, command);
  if (!started.ok()) End(ExitCode(started), fmt::format("{}: {}", NameOf(role, index), started.message()));
}

void Launch::StartAll() {
  StartRole(JobRole::kScheduler, 0);
  // Nobody has to wait for its address; but what its flags say may be wrong, and then it ends at once.
  bool listens = false;
  while (!listens && !ending_ && processes_.Running() + due_roles_.size() > 0) {
    Step(std::chrono::milliseconds(5));
    listens = ReadTextFile(files_.address()).ok();
  }
  if (!listens) return;
  if (!options_.listen.empty() && !options_.quiet) TellHowToJoin();
  const JobOptions& job = options_.scheduler.job;
  for (std::uint32_t i = 0; i < job.servers; ++i) StartRole(JobRole::kServer, i);
  for (std::uint32_t i = 0; i < job.workers; ++i) StartWorker(i, LifeBegan::kStart);
  MonitorOptions monitor;
  monitor.scheduler = files_.scheduler();
  monitor.secret = options_.scheduler.link.secret;
  monitor.job = job.job;
  monitor.every = options_.status_every;
  monitor_ = std::make_unique<MonitorClient>(monitor);
}

// For `leeway ctl` and workers that are started by hand.
void Launch::TellHowToJoin() {
  std::string address = ReadTextFile(files_.address()).value();
  while (address.ends_with('\n')) address.pop_back();
  Say(fmt::format("others join with LEEWAY_SCHEDULER={} LEEWAY_SECRET_FILE={} LEEWAY_JOB={}", address,
                  files_.secret, options_.scheduler.job.job));
}

int Launch::Run() {
  StartAll();
  const auto goes_on = [this] { return !ending_ && (!due_roles_.empty() || !undecided_servers_.empty()); };
  while (processes_.Running() > 0 || goes_on()) Step(std::chrono::milliseconds(100));
  if (interrupt_until_) EndInterrupt();
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
    if (const auto answer = monitor_->TakeCheckpoint()) TakeCheckpointAnswer(*answer);
  }
  OnTime();
  Show();
}

void Launch::OnSignal(int signal) {
  if (signal == SIGQUIT) TellWhoWaits();
  if (signal == SIGUSR1) AskCheckpoint();
  if (signal != SIGINT && signal != SIGTERM && signal != SIGHUP) return;  // SIGCHLD only wakes
  if (interrupted_) {
    if (interrupt_until_) EndInterrupt();
    processes_.SignalAll(SIGKILL);
    return;
  }
  if (signal == SIGTERM && BeginDrain()) return;
  interrupted_ = true;
  if (signal == SIGINT && BeginInterrupt()) return;
  screen_.Hurry();
  const char* name = signal == SIGINT ? "Ctrl-C" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
  End(128 + signal, fmt::format("stopped by {}", name));
}

bool Launch::BeginInterrupt() {
  if (ending_ || drain_until_ || options_.grace.count() == 0) return false;
  if (processes_.Running(JobRole::kWorker) == 0) return false;
  interrupt_until_ = SteadyClock::now() + options_.grace;
  screen_.Hurry(options_.grace);  // a reader that is stuck must not keep it from its end
  due_workers_.clear();
  undecided_.clear();
  processes_.SignalAll(JobRole::kWorker, SIGINT);
  processes_.SignalAll(JobRole::kWorker, SIGCONT);  // what was stopped hears of it too
  Say(fmt::format(
      "Ctrl-C: scripts are interrupted and may end by themselves within {} (once more to kill them "
      "at once)",
      PrintTime(options_.grace)));
  return true;
}

void Launch::EndInterrupt(const std::string& how) {
  interrupt_until_.reset();
  screen_.Hurry();
  End(128 + SIGINT, "stopped by Ctrl-C" + how);
}

void Launch::OnEnded(const EndedProcess& ended) {
  if (ended.role != JobRole::kWorker) return OnRoleEnded(ended);
  OnWorkerEnded(ended.index, ended.end);
  if (!NoWorkerLeft()) return;
  workers_ended_s_ = Elapsed();
  if (outcome_.lives.CountNow(LifeEnd::kDone) > 0) {
    settle_at_ = SteadyClock::now() + options_.settle;
  } else if (interrupt_until_) {
    EndInterrupt();
  }
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
  if (term_servers_at_ && now >= *term_servers_at_) {
    processes_.SignalAll(JobRole::kServer, SIGTERM);
    term_servers_at_.reset();
  }
  if (kill_at_ && now >= *kill_at_) {
    processes_.SignalAll(SIGKILL);
    kill_at_.reset();
  }
  if (interrupt_until_ && now >= *interrupt_until_) {
    EndInterrupt(fmt::format("; {} workers did not end within {}", processes_.Running(JobRole::kWorker),
                             PrintTime(options_.grace)));
  }
  if (ending_) return;
  OnDrainTime(now);
  KillLostServers(now);
  DecideServerLosses(now);
  StartDueRoles(now);
  StartDueWorkers(now);
  EndStragglers(now);
  DecideLosses();
  if (ending_ || !undecided_.empty() || !undecided_servers_.empty()) return;
  const bool told = failure_ && now >= failure_->act_at &&
                    (now >= failure_->workers_until || processes_.Running(JobRole::kWorker) == 0);
  if (failure_ && (told || settle_at_)) {
    End(failure_->exit_code, failure_->why);
  } else if (settle_at_) {
    // A command that never joined (`leeway run -- hostname`) leaves a scheduler that would wait for it.
    // A scheduler waits for a server that lost its connection, and this one does not come back.
    const bool alone = server_gone_ && processes_.Running(JobRole::kServer) == 0;
    if (!HasBegun() || alone || now >= *settle_at_) interrupt_until_ ? EndInterrupt() : End(0, "");
  }
}

void Launch::Show() {
  if (options_.quiet || ending_ || settle_at_) return;
  const auto now = SteadyClock::now();
  if (screen_.terminal()) {
    if (now - shown_ < std::chrono::milliseconds(200)) return;
    screen_.Bar(progress_.Bar(Elapsed(), Screen::BarColumns()));
  } else {
    if (now - shown_ < options_.line_every) return;
    Say(progress_.Line(Elapsed()));
  }
  shown_ = now;
}

void Launch::End(int exit_code, const std::string& why) {
  if (ending_) return;
  ending_ = true;
  outcome_.exit_code = exit_code;
  outcome_.why = why;
  due_workers_.clear();
  due_roles_.clear();
  undecided_.clear();
  undecided_servers_.clear();
  // Servers hear of the end from the scheduler: one that went before it would be taken for a loss.
  const bool word = processes_.IsRunning(JobRole::kScheduler, 0);
  processes_.SignalAll(JobRole::kScheduler, SIGTERM);
  processes_.SignalAll(JobRole::kWorker, SIGTERM);
  term_servers_at_ = SteadyClock::now() + (word ? kWordFirst : std::chrono::milliseconds(0));
  processes_.SignalAll(SIGCONT);  // what was stopped hears of it too
  kill_at_ = SteadyClock::now() + options_.term_grace;
  screen_.ClearBar();
  // What a failure was is said at the very end; until then only what the others are ended for.
  const bool others = processes_.Running(JobRole::kWorker) > 0;
  if (!why.empty() && (others || interrupted_)) {
    const std::string rest = processes_.Running() > 0 ? "; ending the job" : "";
    Say(why + rest + (interrupted_ && others ? " (once more to kill it at once)" : ""));
  }
}

void Launch::TakeStatus(const std::string& json) {
  Result<JobStatus> status = ParseJobStatus(json);
  if (!status.ok()) return;
  progress_.Add(*status, Elapsed());
  if (status->phase != "gathering") begun_ = true;
  if (begun_ && !gathered_s_) gathered_s_ = Elapsed();
  if (!options_.record.empty()) LookForRecord(*status);
  HintAtSameBatches(*status);
  outcome_.status = std::move(*status);
  status_at_ = SteadyClock::now();
  outcome_.status_json = json;
  TellEndedLives();
}

void Launch::HintAtSameBatches(const JobStatus& status) {
  if (hinted_ || options_.quiet) return;
  const std::string hint = SameBatchesText(status);
  hinted_ = !hint.empty();
  if (hinted_) Say(hint);
}

// The scheduler's last word holds figures that came after the last status asked for.
void Launch::TakeLastStatus() {
  if (const Result<std::string> json = ReadTextFile(files_.status()); json.ok()) TakeStatus(*json);
}

void Launch::LookForRecord(const JobStatus& status) {
  std::vector<pid_t> others = processes_.Pids(JobRole::kWorker);
  for (const pid_t pid : processes_.Pids(JobRole::kScheduler)) others.push_back(pid);
  // One that has ended took its time with it.
  if (others.size() == options_.scheduler.job.workers + 1)
    recorder_.Look(status, processes_.Pids(JobRole::kServer), others);
}

Status Launch::WriteRecord() const {
  if (!outcome_.status) return FailedPrecondition("the scheduler never answered");
  LW_ASSIGN_OR_RETURN(const JobRecord record, recorder_.Make(*outcome_.status));
  return WriteTextFile(options_.record, ToJson(record));
}

bool Launch::WillRollBack() const {
  return !role_lost_.empty() && !interrupted_ && options_.on_server_loss == ServerLossPlan::kRollback &&
         !newest_->empty();
}

void Launch::JudgeEnd() {
  if (outcome_.exit_code != 0 || !outcome_.why.empty()) return;
  if (NobodyJoined()) {
    outcome_.exit_code = ExitCode(FailedPrecondition(""));
    outcome_.why =
        "no worker joined the job: the script never called lw.init(); add the lines of docs/pytorch.md to it "
        "(import leeway.torch as lw, lw.init(), ...), or run it without leeway run";
    return;
  }
  if (options_.accepts_losses) return;
  const auto& workers = outcome_.lives.workers();
  for (std::uint32_t rank = 0; rank < workers.size(); ++rank) {
    if (workers[rank].empty() || workers[rank].back().end != LifeEnd::kLost) continue;
    outcome_.exit_code = workers[rank].back().how.exit_code;
    outcome_.lost_rank = rank;
    return;
  }
}

void Launch::Conclude() {
  monitor_.reset();
  screen_.ClearBar();
  TakeLastStatus();
  if (!newest_) newest_ = checkpoints_.Newest();
  JudgeEnd();
  const double total_s = Elapsed();
  const double ended_s = workers_ended_s_.value_or(total_s);
  const double gathered_s = std::min(gathered_s_.value_or(ended_s), ended_s);
  outcome_.times = {gathered_s, ended_s - gathered_s, total_s - ended_s};
  outcome_.events = events_;
  outcome_.stopped = interrupted_;
  // The file first: it waits for no reader.
  if (!options_.summary_json.empty()) {
    const Status written = WriteTextFile(options_.summary_json, SummaryJson(outcome_));
    if (!written.ok()) {
      Say("summary: " + written.message());
      if (outcome_.exit_code == 0)
        outcome_.exit_code = ExitCode(written);  // whoever reads it must hear of it
    }
  }
  if (!options_.record.empty() && outcome_.exit_code == 0) {
    const Status written = WriteRecord();
    if (!written.ok()) {
      Say("record: " + written.message());
      outcome_.exit_code = ExitCode(written);
    }
  }
  processes_.ShowDelayed();
  if (!WillRollBack()) ShowEnd();
}

// The summary; after a failure a short one, none where a script was wrong: its traceback comes last, and one
// line.
void Launch::ShowEnd() {
  const bool failed = !outcome_.why.empty() && !outcome_.stopped;
  const bool of_script = script_failed_ || (failed && NobodyJoined());
  if (!options_.quiet && !of_script) {
    std::string text = SummaryText(outcome_);
    text.pop_back();  // its end of line comes with Line
    screen_.Line(STDOUT_FILENO, "\n", text);
  }
  if (failed && failed_rank_) {
    const std::string prefix = options_.prefix ? fmt::format("[w{}] ", *failed_rank_) : "";
    for (const std::string& line : processes_.CoveredTail(JobRole::kWorker, *failed_rank_, script_failed_))
      screen_.Line(STDERR_FILENO, prefix, line);
    if (const std::string hint = PythonHint(*failed_rank_); !hint.empty()) Say(hint);
  }
  if (failed) Say(fmt::format("job failed after {:.1f} s: {}", outcome_.times.total_s(), outcome_.why));
  if (outcome_.lost_rank) {
    const Life& lost = outcome_.lives.workers()[*outcome_.lost_rank].back();
    Say(fmt::format(
        "the job came to its end, but without worker {}, which ended with {}: its exit code is the "
        "job's, unless --on-worker-loss says what to do about losses",
        *outcome_.lost_rank, DescribeEnd(lost.how)));
  }
}

std::string Launch::PythonHint(std::uint32_t rank) const {
  for (const char* module : {"torch", "leeway", "numpy"}) {
    const auto lacks =
        [&](char end) {  // of the module itself, or of a part of it; torchvision is no part of torch
          return processes_.HasSaid(JobRole::kWorker, rank,
                                    fmt::format("No module named '{}{}", module, end));
        };
    if (!lacks('\'') && !lacks('.')) continue;
    const Result<std::string> python = PythonOfBuild(program_);
    if (!python.ok() || *python == found_) return {};
    return fmt::format(
        "{} cannot import {}; the Python of this build is {}, which `leeway run ... train.py` takes "
        "by itself",
        found_, module, *python);
  }
  return {};
}

}  // namespace leeway::app
