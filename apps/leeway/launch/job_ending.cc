#include "launch/job_ending.h"

#include <fmt/format.h>

#include <csignal>
#include <utility>

#include "terminal/quantity.h"

namespace leeway::app {
namespace {

// Between SIGTERM of the scheduler and of the servers.
constexpr std::chrono::milliseconds kWordFirst{300};

constexpr JobRole kRoles[] = {JobRole::kScheduler, JobRole::kServer, JobRole::kWorker};

}  // namespace

void JobEnding::Fail(JobFailure failure) {
  if (!failure_ || (failure.of_role && !failure_->of_role)) failure_ = std::move(failure);
}

bool JobEnding::MayInterrupt() const {
  return !begun_ && options_.grace.count() > 0 && control_.Running(JobRole::kWorker) > 0;
}

void JobEnding::BeginInterrupt(SteadyClock::time_point now) {
  interrupt_until_ = now + options_.grace;
  control_.SignalAll(JobRole::kWorker, SIGINT);
  control_.SignalAll(JobRole::kWorker, SIGCONT);  // stopped workers hear of it too
  control_.Say(fmt::format(
      "Ctrl-C: scripts are interrupted and may end by themselves within {} (once more to kill them "
      "at once)",
      PrintTime(options_.grace)));
}

void JobEnding::Begin(int exit_code, const std::string& why, SteadyClock::time_point now) {
  begun_ = true;
  exit_code_ = exit_code;
  why_ = why;
  // Servers hear of the end from the scheduler: one that went before it would be taken for a loss.
  const bool word = control_.IsRunning(JobRole::kScheduler, 0);
  control_.SignalAll(JobRole::kScheduler, SIGTERM);
  control_.SignalAll(JobRole::kWorker, SIGTERM);
  term_servers_at_ = now + (word ? kWordFirst : std::chrono::milliseconds(0));
  for (const JobRole role : kRoles) control_.SignalAll(role, SIGCONT);  // stopped processes hear of it too
  kill_at_ = now + options_.term_grace;
  // The end of the output says why the job failed; until then the user hears only why other workers end.
  const bool others = control_.Running(JobRole::kWorker) > 0;
  if (why.empty() || (!others && !interrupted_)) return;
  const bool any = others || control_.Running(JobRole::kScheduler) + control_.Running(JobRole::kServer) > 0;
  control_.Say(why + (any ? "; ending the job" : "") +
               (interrupted_ && others ? " (once more to kill it at once)" : ""));
}

void JobEnding::OnTime(SteadyClock::time_point now) {
  if (term_servers_at_ && now >= *term_servers_at_) {
    control_.SignalAll(JobRole::kServer, SIGTERM);
    term_servers_at_.reset();
  }
  if (kill_at_ && now >= *kill_at_) {
    for (const JobRole role : kRoles) control_.SignalAll(role, SIGKILL);
    kill_at_.reset();
  }
}

bool JobEnding::IsFailureDue(SteadyClock::time_point now) const {
  if (!failure_) return false;
  const bool told =
      now >= failure_->act_at && (now >= failure_->workers_until || control_.Running(JobRole::kWorker) == 0);
  return told || settling();
}

}  // namespace leeway::app
