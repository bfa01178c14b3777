// Workers of a launch: their starts, their ends, and what follows from a loss.
#include <fmt/format.h>

#include <csignal>
#include <utility>

#include "base/errors.h"
#include "cli/quantity.h"
#include "launch/launch.h"
#include "launch/process_look.h"

namespace leeway::app {

void Launch::StartWorker(std::uint32_t rank, LifeBegan began) {
  if (ending_) return;
  outcome_.lives.Start(rank, began);
  Start(JobRole::kWorker, rank,
        WorkerCommandOf(program_, options_, files_, rank, outcome_.lives.RestartsOf(rank), found_));
}

void Launch::OnWorkerEnded(std::uint32_t rank, const ProcessEnd& end) {
  const LifeEnd how = outcome_.lives.End(rank, end, ending_ || interrupt_until_);
  if (how != LifeEnd::kFailed && how != LifeEnd::kLost) return;
  if (CameTooLate(rank, end)) {
    outcome_.lives.MarkLate(rank);
    Say(fmt::format("{} came back when the job was over", NameOf(JobRole::kWorker, rank)));
  } else if (how == LifeEnd::kLost) {
    OnLost(rank, end);
  } else if (!ending_) {
    failed_rank_ = rank;
    script_failed_ = true;
    processes_.DropDelayed();  // scheduler and servers have only seen what follows from it
    End(end.exit_code, fmt::format("{} ended with {}", NameOf(JobRole::kWorker, rank), DescribeEnd(end)));
  }
}

void Launch::TellEndedLives() {
  if (!monitor_ || !outcome_.status) return;
  std::vector<WorkerLife> ended;
  std::size_t live = 0;
  for (const WorkerStatus& worker : outcome_.status->workers) {
    if (worker.state != "joined" && worker.state != "suspect") continue;
    ++live;
    if (worker.rank >= outcome_.lives.workers().size()) continue;
    const std::vector<Life>& lives = outcome_.lives.workers()[worker.rank];
    // One that ended well has left by itself, though its word may still be on its way.
    if (lives.empty() || lives.back().end == LifeEnd::kRunning || lives.back().how.exit_code == 0) continue;
    // Another process may have taken the rank, here or elsewhere.
    if (worker.host != OwnHostName() || !HasProcessEnded(worker.pid)) continue;
    ended.push_back({worker.rank, worker.incarnation});
  }
  // A job whose last worker died is over, and the next life of one would come too late.
  if (live == ended.size() && !due_workers_.empty()) ended.clear();
  monitor_->TellEnded(std::move(ended));
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
  events_.Add(EventKind::kLost, NameOf(JobRole::kWorker, rank), "ended with " + DescribeEnd(end));
  WorkerLives::NextLife next;
  if (!scheduler_done_ && outcome_.lives.TakeNext(rank, next)) {
    due_workers_.push_back({rank, next.began, SteadyClock::now() + next.back_off, next.why});
    Say(fmt::format("{} ended with {}; starting it again in {} ({})", NameOf(JobRole::kWorker, rank),
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
    failed_rank_ = loss.rank;
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
  Say(keeps ? fmt::format(
                  "{}; its place is kept for {} (LEEWAY_SCHEDULER={} LEEWAY_SECRET_FILE={} LEEWAY_JOB={} "
                  "LEEWAY_RANK={} starts another)",
                  what, PrintTime(s.gather_timeout), files_.scheduler(), files_.secret, s.job.job, loss.rank)
            : fmt::format("{}; the job goes on without it", what));
  return true;
}

void Launch::DecideLosses() {
  std::erase_if(undecided_, [this](const Loss& loss) { return failure_ || job_done_ || Decide(loss); });
}

void Launch::StartDueWorkers(SteadyClock::time_point now) {
  if (failure_) return;
  std::vector<DueWorker> later;
  for (const DueWorker& due : std::exchange(due_workers_, {})) {
    if (now < due.at) {
      later.push_back(due);
    } else {
      // Now, not at the loss: by the end of the back-off the status surely knows of the life before.
      joined_before_[due.rank] = StatusOf(due.rank).incarnation;
      events_.Add(EventKind::kRestart, NameOf(JobRole::kWorker, due.rank), due.why);
      StartWorker(due.rank, due.began);
    }
  }
  if (!ending_) due_workers_ = std::move(later);
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
    Say(fmt::format("{} is no member of the job and has not ended with it; killing it",
                    NameOf(JobRole::kWorker, rank)));
    processes_.Signal(JobRole::kWorker, rank, SIGKILL);
  }
  stragglers_until_ = now + options_.straggle;
}

}  // namespace leeway::app
