#include "launch/worker_watch.h"

#include <fmt/format.h>

#include <utility>

#include "base/errors.h"
#include "status/pace.h"
#include "system/process_look.h"
#include "terminal/quantity.h"

namespace leeway::app {
namespace {

// Empty if the scheduler has not named the worker.
WorkerStatus StatusOf(std::uint32_t rank, const JobStatus* status) {
  const WorkerStatus* const found = status == nullptr ? nullptr : status->FindWorker(rank);
  return found == nullptr ? WorkerStatus{} : *found;
}

}  // namespace

WorkerWatch::WorkerWatch(const LaunchOptions& options, std::string how_to_join, LaunchControl& control)
    : options_(options),
      how_to_join_(std::move(how_to_join)),
      control_(control),
      lives_(options.scheduler.job.workers, options.restart) {}

void WorkerWatch::Start(std::uint32_t rank, LifeBegan began) {
  if (control_.IsEnding()) return;
  lives_.Start(rank, began);
  control_.Start(JobRole::kWorker, rank);
}

void WorkerWatch::DropPending() {
  due_.clear();
  undecided_.clear();
}

void WorkerWatch::OnEnded(std::uint32_t rank, const ProcessEnd& end, const JobNow& now) {
  const LifeEnd how = lives_.End(rank, end, control_.IsEnding() || now.interrupting);
  if (how != LifeEnd::kFailed && how != LifeEnd::kLost) return;
  if (CameTooLate(rank, end, now)) {
    lives_.MarkLate(rank);
    control_.Say(fmt::format("{} came back when the job was over", NameOf(JobRole::kWorker, rank)));
  } else if (how == LifeEnd::kLost) {
    OnLost(rank, end, now);
  } else {
    failed_rank_ = rank;
    script_failed_ = true;
    control_.OnScriptFailed(
        end.exit_code, fmt::format("{} ended with {}", NameOf(JobRole::kWorker, rank), DescribeEnd(end)));
  }
}

void WorkerWatch::OnTime(const JobNow& now) {
  StartDue(now);
  EndStragglers(now);
  std::erase_if(undecided_,
                [&](const Loss& loss) { return control_.IsFailing() || now.job_done || Decide(loss, now); });
}

std::vector<WorkerLife> WorkerWatch::EndedLives(const JobStatus& status) const {
  std::vector<WorkerLife> ended;
  std::size_t live = 0;
  for (const WorkerStatus& worker : status.workers) {
    if (!IsLive(worker)) continue;
    ++live;
    if (worker.rank >= lives_.workers().size()) continue;
    const std::vector<Life>& lives = lives_.workers()[worker.rank];
    // A worker that ended well has left by itself, though its word may still be on its way.
    if (lives.empty() || lives.back().end == LifeEnd::kRunning || lives.back().how.exit_code == 0) continue;
    // Another process may have taken the rank, here or elsewhere.
    if (worker.host != OwnHostName() || !HasProcessEnded(worker.pid)) continue;
    ended.push_back({worker.rank, worker.incarnation});
  }
  // A job ends with its last worker, and a restarted worker would come too late.
  if (live == ended.size() && !due_.empty()) ended.clear();
  return ended;
}

bool WorkerWatch::CameTooLate(std::uint32_t rank, const ProcessEnd& end, const JobNow& now) const {
  const auto before = joined_before_.find(rank);
  if (before == joined_before_.end() || StatusOf(rank, now.status).incarnation != before->second)
    return false;
  if (lives_.CountNow(LifeEnd::kDone) == 0) return false;
  // Nobody can join a job that everyone has left; the scheduler may be there a moment longer to say so.
  const bool refused = end.signal == 0 && end.exit_code == ExitCode(FailedPrecondition(""));
  return now.job_done || (refused && control_.Running(JobRole::kWorker) == 0);
}

void WorkerWatch::OnLost(std::uint32_t rank, const ProcessEnd& end, const JobNow& now) {
  // A job that is over, or about to be for another reason, ends its workers: Launch does not act on it.
  if (now.job_done || control_.IsFailing()) return;
  const std::string who = NameOf(JobRole::kWorker, rank);
  control_.Note(EventKind::kLost, who, "ended with " + DescribeEnd(end));
  WorkerLives::NextLife next;
  if (!now.scheduler_done && lives_.TakeNext(rank, next)) {
    due_.push_back({rank, next.began, now.at + next.back_off, next.why});
    control_.Say(fmt::format("{} ended with {}; starting it again in {} ({})", who, DescribeEnd(end),
                             PrintTime(next.back_off), next.why));
    return;
  }
  const Loss loss{rank, end, now.at + kCauseFirst};
  if (!Decide(loss, now)) undecided_.push_back(loss);
}

void WorkerWatch::Fail(const Loss& loss, const std::string& why, const JobNow& now) {
  failed_rank_ = loss.rank;
  control_.Fail({loss.end.exit_code, why, now.at});
}

bool WorkerWatch::Decide(const Loss& loss, const JobNow& now) {
  const SchedulerOptions& s = options_.scheduler;
  const bool early = now.at < loss.decide_at;
  if (early && loss.end.signal == 0) return false;
  const std::string what =
      fmt::format("{} ended with {}", NameOf(JobRole::kWorker, loss.rank), DescribeEnd(loss.end));
  if (s.on_worker_loss == OnWorkerLoss::kFail) {
    Fail(loss, what, now);
    return true;
  }
  if (NoneLeft() && lives_.CountNow(LifeEnd::kDone) == 0) {
    Fail(loss, s.job.workers > 1 ? "all workers are lost; the last one, " + what : what, now);
    return true;
  }
  if (!now.begun) {
    if (early) return false;
    const std::size_t left = s.job.workers - lives_.CountNow(LifeEnd::kLost);
    if (s.min_workers == 0 || left < s.min_workers) {
      Fail(loss, what + " before the job had begun", now);
      return true;
    }
  }
  const bool keeps = s.on_worker_loss == OnWorkerLoss::kWait;
  control_.Say(keeps ? fmt::format("{}; its place is kept for {} ({} LEEWAY_RANK={} starts another)", what,
                                   PrintTime(s.gather_timeout), how_to_join_, loss.rank)
                     : fmt::format("{}; the job goes on without it", what));
  return true;
}

void WorkerWatch::StartDue(const JobNow& now) {
  if (control_.IsFailing()) return;
  std::vector<DueWorker> later;
  for (const DueWorker& due : std::exchange(due_, {})) {
    if (now.at < due.at) {
      later.push_back(due);
    } else {
      // Now, not at the loss: by the end of the back-off the status surely knows of the life before.
      joined_before_[due.rank] = StatusOf(due.rank, now.status).incarnation;
      control_.Note(EventKind::kRestart, NameOf(JobRole::kWorker, due.rank), due.why);
      Start(due.rank, due.began);
    }
  }
  if (!control_.IsEnding()) due_ = std::move(later);
}

// Kills workers that run on after the job has ended, once the job has declared all of them dead: each is
// stopped, stuck, or a new life on its way.
void WorkerWatch::EndStragglers(const JobNow& now) {
  if (!now.job_done) return;
  std::vector<std::uint32_t> stragglers;
  for (std::uint32_t rank = 0; rank < options_.scheduler.job.workers; ++rank) {
    if (!control_.IsRunning(JobRole::kWorker, rank)) continue;
    if (StatusOf(rank, now.status).state != "dead") return;
    stragglers.push_back(rank);
  }
  if (stragglers.empty()) return;
  if (!stragglers_until_) stragglers_until_ = now.at + options_.straggle;
  if (now.at < *stragglers_until_) return;
  for (const std::uint32_t rank : stragglers) {
    control_.Say(fmt::format("{} is no member of the job and has not ended with it; killing it",
                             NameOf(JobRole::kWorker, rank)));
    control_.Kill(JobRole::kWorker, rank);
  }
  stragglers_until_ = now.at + options_.straggle;
}

}  // namespace leeway::app
