#include "node/scheduler/job_log.h"

#include <utility>

#include "base/mutation.h"

namespace leeway {

JobLog::~JobLog() { env_.timers.Cancel(commit_timer_); }

void JobLog::Open(const SchedulerOptions& options,
                  std::function<void(Result<std::optional<DecodedLog>>)> done) {
  gate_.Hold([this] { CommitSoon(); });
  log_ = std::make_unique<SchedulerLog>(env_, options.log_folder, options.job.job, options.gather_timeout,
                                        static_cast<SchedulerLogEvents&>(*this));
  log_->Read(std::move(done));
}

void JobLog::GoOn(bool found) {
  read_ = true;
  if (found) log_->Write({}, SchedulerLog::Safety::kPower);
}

wire::pb::LogRecord JobLog::Snapshot() {
  // The snapshot holds all changes up to now, so they must not be written again.
  wire::pb::LogRecord changes;
  (void)events_.add_changes(changes);
  covered_ = gate_.last_said();
  return events_.snapshot();
}

void JobLog::CommitSoon() {
  if (log_ == nullptr || commit_timer_ != TimerId{}) return;
  commit_timer_ = env_.timers.After(Duration::zero(), [this] {
    commit_timer_ = {};
    Commit();
  });
}

void JobLog::Commit() {
  if (log_ == nullptr || stopped_ || log_->busy()) return;  // OnWritten looks again
  if (!read_) return gate_.Release(gate_.last_said());      // refusals: there is nothing else to say yet
  if (LW_MUTATED(announce_first)) gate_.Release(gate_.last_said());
  wire::pb::LogRecord record;
  const std::optional<SchedulerLog::Safety> safety = events_.add_changes(record);
  covered_ = gate_.last_said();
  if (safety) return log_->Write(record, *safety);
  gate_.Release(covered_);
  events_.all_written();
}

void JobLog::OnWritten() {
  gate_.Release(covered_);
  Commit();
}

void JobLog::OnGivenUp(const Status& why) {
  // Frames that wait depend on changes that are in no log: nobody may hear of them.
  gate_.DropHeld();
  env_.timers.Cancel(std::exchange(commit_timer_, {}));
  log_.reset();  // it has called this last
  events_.lost(why);
}

}  // namespace leeway
