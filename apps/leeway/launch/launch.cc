#include "launch/launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/errors.h"
#include "launch/worker_program.h"
#include "system/text_file.h"
#include "terminal/quantity.h"

namespace leeway::app {
namespace {

// The variables that a worker joins the job with.
std::string HowToJoin(const std::string& scheduler, const LaunchFiles& files, const LaunchOptions& options) {
  std::string words = fmt::format("LEEWAY_SCHEDULER={} LEEWAY_SECRET_FILE={} LEEWAY_JOB={}", scheduler,
                                  files.secret, options.scheduler.job.job);
  if (!options.plugins.empty()) words += fmt::format(" LEEWAY_PLUGINS={}", fmt::join(options.plugins, ":"));
  return words;
}

}  // namespace

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
      screen_(Screen::StderrIsTerminal() && !options.quiet, stop.fd()),
      processes_(screen_, guard, options.prefix),
      display_(options, screen_),
      workers_(options, HowToJoin(files_.scheduler(), files_, options), *this),
      roles_(options, checkpoints, files_.address(), *this),
      asked_(checkpoints.enabled(), options.grace, *this),
      ending_(options, *this),
      recorder_({options.scheduler.job, options.scheduler.link.transport, options.slow_workers.factors(),
                 options.exchange_costs}) {}

JobNow Launch::Now() const {
  const JobStatus* status = last_status_.get();
  JobNow now;
  now.at = SteadyClock::now();
  now.status = status;
  now.status_at = last_status_.at();
  now.begun = begun();
  now.served =
      ending_.settling() || (status != nullptr && status->served) || (monitor_ && monitor_->ended_well());
  now.interrupting = ending_.interrupting();
  now.scheduler_done = roles_.scheduler_done();
  now.job_done = roles_.job_done();
  return now;
}

void Launch::Start(JobRole role, std::uint32_t index) {
  if (ending_.begun()) return;
  ChildCommand command =
      role == JobRole::kScheduler ? SchedulerCommandOf(program_, options_, files_)
      : role == JobRole::kServer
          ? ServerCommandOf(program_, options_, files_, index)
          : WorkerCommandOf(program_, options_, files_, index, workers_.lives().RestartsOf(index), found_);
  command.signal_mask = signals_.outer_mask();
  const Status started = processes_.Start(role, index, command);
  if (!started.ok()) End(ExitCode(started), fmt::format("{}: {}", NameOf(role, index), started.message()));
}

void Launch::StartAll() {
  roles_.Start(JobRole::kScheduler, 0, SteadyClock::now());
  // The other processes could start without its address. But a scheduler whose flags are wrong ends at once.
  bool listens = false;
  while (!listens && !ending_.begun() && (processes_.Running() > 0 || roles_.HasPending())) {
    Step(std::chrono::milliseconds(5));
    listens = ReadTextFile(files_.address()).ok();
  }
  if (!listens) return;
  if (!options_.listen.empty() && !options_.quiet) TellHowToJoin();
  const JobOptions& job = options_.scheduler.job;
  for (std::uint32_t i = 0; i < job.servers; ++i) roles_.Start(JobRole::kServer, i, SteadyClock::now());
  for (std::uint32_t i = 0; i < job.workers; ++i) workers_.Start(i, LifeBegan::kStart);
  MonitorOptions monitor;
  monitor.scheduler = files_.scheduler();
  monitor.secret = options_.scheduler.link.secret;
  monitor.job = job.job;
  monitor.every = options_.status_every;
  monitor_ = ConnectMonitor(monitor);
}

// For `leeway ctl` and workers that are started by hand.
void Launch::TellHowToJoin() {
  std::string address = ReadTextFile(files_.address()).value();
  while (address.ends_with('\n')) address.pop_back();
  Say("others join with " + HowToJoin(address, files_, options_));
}

int Launch::Run() {
  StartAll();
  while (processes_.Running() > 0 || (!ending_.begun() && roles_.HasPending()))
    Step(std::chrono::milliseconds(100));
  if (ending_.interrupting()) EndInterrupt();
  if (const auto& failure = ending_.failure()) End(failure->exit_code, failure->why);
  return Conclude();
}

void Launch::Step(std::chrono::milliseconds timeout) {
  processes_.Wait(signals_.fd(), static_cast<int>(timeout.count()));
  while (const std::optional<int> signal = signals_.Next()) OnSignal(*signal);
  for (const EndedProcess& ended : processes_.Reap()) OnEnded(ended);
  if (monitor_) {
    if (const std::optional<std::string> json = monitor_->Take()) TakeStatus(*json);
    if (const auto answer = monitor_->TakeCheckpoint()) {
      if (const auto how = asked_.TakeAnswer(*answer, SteadyClock::now())) EndDrain(*how);
    }
  }
  OnTime();
  if (!ending_.begun() && !ending_.settling()) display_.ShowProgress(SteadyClock::now(), Elapsed());
}

void Launch::OnSignal(int signal) {
  if (signal == SIGQUIT) display_.ShowWhoWaits(last_status_.get());
  if (signal == SIGUSR1 && !ending_.begun() && !roles_.job_done()) asked_.Ask(monitor_ != nullptr);
  if (signal != SIGINT && signal != SIGTERM && signal != SIGHUP) return;  // SIGCHLD only wakes
  if (ending_.interrupted()) {
    if (ending_.interrupting()) EndInterrupt();
    processes_.SignalAll(SIGKILL);
    return;
  }
  const bool may_drain = monitor_ && !ending_.begun() && !ending_.settling() && !IsFailing();
  if (signal == SIGTERM && may_drain && asked_.BeginDrain(SteadyClock::now())) return;
  ending_.SetInterrupted();
  if (signal == SIGINT && !asked_.draining() && ending_.MayInterrupt()) {
    screen_.Hurry(options_.grace);  // a reader that is stuck must not keep the job from its end
    workers_.DropPending();
    return ending_.BeginInterrupt(SteadyClock::now());
  }
  screen_.Hurry();
  const char* name = signal == SIGINT ? "Ctrl-C" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
  End(128 + signal, fmt::format("stopped by {}", name));
}

void Launch::OnEnded(const EndedProcess& ended) {
  if (ended.role != JobRole::kWorker) {
    roles_.OnEnded(ended, Now());
    if (roles_.scheduler_done()) workers_.DropDue();
    // The job is over, though scripts may have more to do.
    if (ended.role == JobRole::kScheduler && roles_.job_done()) TakeLastStatus();
    return;
  }
  workers_.OnEnded(ended.index, ended.end, Now());
  if (!workers_.NoneLeft()) return;
  workers_ended_s_ = Elapsed();
  if (workers_.lives().CountNow(LifeEnd::kDone) > 0) {
    ending_.Settle(SteadyClock::now());
  } else if (ending_.interrupting()) {
    EndInterrupt();
  }
}

// The user needs no lines of scheduler and servers: they have only seen what follows from the error.
void Launch::OnScriptFailed(int exit_code, const std::string& why) {
  processes_.DropDelayed();
  End(exit_code, why);
}

void Launch::OnTime() {
  const auto now = SteadyClock::now();
  ending_.OnTime(now);
  if (ending_.IsInterruptOver(now)) {
    EndInterrupt(fmt::format("; {} workers did not end within {}", Running(JobRole::kWorker),
                             PrintTime(options_.grace)));
  }
  if (ending_.begun()) return;
  if (const auto how = asked_.OnTime(now)) EndDrain(*how);
  roles_.OnTime(Now());
  workers_.OnTime(Now());
  if (ending_.begun() || workers_.IsUndecided() || roles_.IsUndecided()) return;
  if (ending_.IsFailureDue(now)) return End(ending_.failure()->exit_code, ending_.failure()->why);
  // A command that never joined (`leeway run -- hostname`) leaves a scheduler that would wait for it.
  // A scheduler waits for a server that lost its connection, and a server that is gone does not come back.
  const bool in_vain = !begun() || (roles_.server_gone() && Running(JobRole::kServer) == 0);
  if (ending_.HasSettled(now, in_vain)) ending_.interrupting() ? EndInterrupt() : End(0, "");
}

void Launch::End(int exit_code, const std::string& why) {
  if (ending_.begun()) return;
  workers_.DropPending();
  roles_.DropPending();
  screen_.ClearBar();
  ending_.Begin(exit_code, why, SteadyClock::now());
}

void Launch::EndInterrupt(const std::string& how) {
  ending_.EndInterrupt();
  screen_.Hurry();
  End(128 + SIGINT, "stopped by Ctrl-C" + how);
}

void Launch::EndDrain(const std::string& how) {
  ending_.SetInterrupted();
  screen_.Hurry();
  End(128 + SIGTERM, fmt::format("stopped by SIGTERM, {}", how));
}

void Launch::TakeStatus(const std::string& json) {
  if (!last_status_.Take(json, Elapsed())) return;
  display_.Add(*last_status_.get(), Elapsed());
  if (!options_.record.empty()) LookForRecord();
  if (monitor_) monitor_->TellEnded(workers_.EndedLives(*last_status_.get()));
}

void Launch::TakeLastStatus() {
  if (const Result<std::string> json = ReadTextFile(files_.status()); json.ok()) TakeStatus(*json);
}

void Launch::LookForRecord() {
  std::vector<pid_t> others = processes_.Pids(JobRole::kWorker);
  for (const pid_t pid : processes_.Pids(JobRole::kScheduler)) others.push_back(pid);
  // A process that has ended took its time with it.
  if (others.size() == options_.scheduler.job.workers + 1)
    recorder_.Look(*last_status_.get(), processes_.Pids(JobRole::kServer), others);
}

Status Launch::WriteRecord() const {
  if (last_status_.get() == nullptr) return FailedPrecondition("the scheduler never answered");
  LW_ASSIGN_OR_RETURN(const JobRecord record, recorder_.Make(*last_status_.get()));
  return WriteTextFile(options_.record, ToJson(record));
}

int Launch::Conclude() {
  monitor_.reset();
  screen_.ClearBar();
  TakeLastStatus();
  // The last lines name the checkpoint on which the end of the job was decided.
  newest_ = roles_.lacked_checkpoint() ? "" : checkpoints_.Newest();
  Outcome outcome;
  outcome.exit_code = ending_.exit_code();
  outcome.why = ending_.why();
  outcome.stopped = interrupted();
  // A -h with a word behind it may be any flag of the script.
  outcome.asked_help = std::ranges::find(options_.command, "--help") != options_.command.end() ||
                       (!options_.command.empty() && options_.command.back() == "-h");
  outcome.lives = workers_.lives();
  outcome.events = events_;
  outcome.status = last_status_.status();
  outcome.status_json = last_status_.json();
  JudgeEnd(outcome, options_.accepts_losses);
  const double total_s = Elapsed();
  const double ended_s = workers_ended_s_.value_or(total_s);
  const double gathered_s = std::min(last_status_.gathered_s().value_or(ended_s), ended_s);
  outcome.times = {gathered_s, ended_s - gathered_s, total_s - ended_s};
  // The file first: it waits for no reader.
  if (!options_.summary_json.empty()) {
    const Status written = WriteTextFile(options_.summary_json, SummaryJson(outcome));
    if (!written.ok()) {
      Say("summary: " + written.message());
      // The file's reader must hear of it.
      if (outcome.exit_code == 0) outcome.exit_code = ExitCode(written);
    }
  }
  if (!options_.record.empty() && outcome.exit_code == 0) {
    const Status written = WriteRecord();
    if (!written.ok()) {
      Say("record: " + written.message());
      outcome.exit_code = ExitCode(written);
    }
  }
  processes_.ShowDelayed();
  const bool rolls_back = !role_lost().empty() && !interrupted() &&
                          options_.on_server_loss == ServerLossPlan::kRollback && !newest_.empty();
  if (!rolls_back) ShowEnd(outcome);
  return outcome.exit_code;
}

void Launch::ShowEnd(const Outcome& outcome) {
  std::optional<FailedWorker> failed;
  if (const std::optional<std::uint32_t> rank = workers_.failed_rank()) {
    const auto has_said = [this, rank](std::string_view text) {
      return processes_.HasSaid(JobRole::kWorker, *rank, text);
    };
    const std::string flag_hint = FlagHint(options_.command, options_.is_flag, has_said);
    failed = {*rank,
              [this, rank] { return processes_.CoveredTail(JobRole::kWorker, *rank, script_failed()); },
              flag_hint.empty() ? PythonHint(program_, found_, has_said) : flag_hint};
  }
  display_.ShowEnd(outcome, script_failed(), failed);
}

}  // namespace leeway::app
