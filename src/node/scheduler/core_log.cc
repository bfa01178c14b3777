// The scheduler's log: what a scheduler that is started again goes on from, and the gate before it.
//
// Nothing that depends on a change leaves before the change is in the log. Whatever the scheduler says, to
// whomever, waits in Inbound; after the event under way all that has changed becomes one record, and what was
// said up to then is let go once that is written. So an event is in the log with all its changes or with
// none, and nobody has heard of one that is not. Leases of batches are let go when they are appended, not
// synced: only a loss of power may give one out twice.
#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/mutation.h"
#include "node/control_frame.h"
#include "node/scheduler/core.h"
#include "node/scheduler/job_check.h"

namespace leeway {
namespace {

template <typename Value>
Status CheckSame(const char* what, const Value& log, const Value& options) {
  if (log == options) return Status::Ok();
  return FailedPrecondition("it is of another job, or this is: {}: got {}, wanted {} as in the log", what,
                            options, log);
}

Status CheckSameJob(const wire::pb::Job& log, const wire::pb::Job& options) {
  LW_RETURN_IF_ERROR(CheckSame("name", log.job(), options.job()));
  LW_RETURN_IF_ERROR(CheckSame("workers", log.workers(), options.workers()));
  LW_RETURN_IF_ERROR(CheckSame("servers", log.servers(), options.servers()));
  LW_RETURN_IF_ERROR(CheckSame("shards per server", log.shards(), options.shards()));
  LW_RETURN_IF_ERROR(CheckSame("sync", log.sync(), options.sync()));
  LW_RETURN_IF_ERROR(CheckSame("apply", log.apply(), options.apply()));
  LW_RETURN_IF_ERROR(CheckSame("pull", log.pull(), options.pull()));
  LW_RETURN_IF_ERROR(CheckSame("exchange", log.exchange(), options.exchange()));
  LW_RETURN_IF_ERROR(CheckSame("no_overlap", log.no_overlap(), options.no_overlap()));
  LW_RETURN_IF_ERROR(CheckSame("placement", log.placement(), options.placement()));
  LW_RETURN_IF_ERROR(CheckSame("block_bytes", log.block_bytes(), options.block_bytes()));
  return CheckSame("seed", log.seed(), options.seed());
}

}  // namespace

void SchedulerNode::Core::OpenLog() {
  pools_.KeepChanges();
  inbound_.Hold([this] { CommitSoon(); });
  log_ = std::make_unique<SchedulerLog>(env_, options_.log_folder, options_.job.job, options_.gather_timeout,
                                        static_cast<SchedulerLogEvents&>(*this));
  log_->Read([this](const Result<std::optional<DecodedLog>>& read) {
    if (over_) return;  // stopped meanwhile
    Status status = read.status();
    if (status.ok() && *read) {
      status = Replay(**read).WithContext(fmt::format("the scheduler's log {}", log_->path()));
    }
    if (!status.ok()) {
      // Nobody is told that the job has ended: it may go on with a scheduler that can read the log.
      over_ = true;
      outcome_ = status;
      return End();
    }
    if (!*read || over_) return GoOn(read->has_value());
    std::vector<std::string> folders = checkpoints_.Candidates();
    std::ranges::reverse(folders);
    FindLastCheckpoint(std::move(folders), [this] { GoOn(true); });
  });
}

void SchedulerNode::Core::FindLastCheckpoint(std::vector<std::string> folders,
                                             const std::function<void()>& then) {
  const bool own = !folders.empty();
  const std::string folder = own ? folders.back() : resumed_from_;
  if (folder.empty()) return then();
  if (own) folders.pop_back();
  files_.Read(folder, [this, own, folder, folders = std::move(folders), then](const Result<Manifest>& read) {
    if (over_) return;  // stopped meanwhile
    if (read.ok()) last_checkpoint_ = {*read, folder, own};
    if (read.ok() && !own) members_.Restore(RankRestores(*read, folder));
    if (!read.ok() && (!own || read.status().code() != StatusCode::kNotFound)) {
      if (unread_.empty()) unread_ = fmt::format("{}: {}", folder, read.status().message());
      env_.log.Write(
          LogLevel::kError,
          fmt::format("a checkpoint to replace servers from cannot be read: {}: {}; until another is "
                      "whole, a server that is lost goes on from an older one, or ends the job",
                      folder, read.status().message()));
    }
    if (read.ok() || !own) return then();
    FindLastCheckpoint(folders, then);
  });
}

void SchedulerNode::Core::GoOn(bool found) {
  ready_ = log_read_ = true;
  members_.HearAll(env_.clock.Now());  // nobody could be heard while it was read
  // What was found may not have been synced: it is safe before anybody hears of it. If the job is over, it
  // lingers then.
  if (found) log_->Write({}, SchedulerLog::Safety::kPower);
  if (over_) return;
  AskOfEndedLives();
  Begin();
}

Status SchedulerNode::Core::Replay(const DecodedLog& log) {
  wire::pb::Job job;
  FillJob(options_.job, job);
  LW_RETURN_IF_ERROR(CheckSame("name", log.job, options_.job.job));
  LW_RETURN_IF_ERROR(CheckSameJob(log.records.front().job(), job));
  for (const wire::pb::LogRecord& record : log.records) {
    LW_RETURN_IF_ERROR(members_.Apply(record, env_.clock.Now()));
    LW_RETURN_IF_ERROR(tables_.Apply(record));
    LW_RETURN_IF_ERROR(barriers_.Apply(record));
    LW_RETURN_IF_ERROR(pools_.Apply(record));
    checkpoints_.Apply(record);
    set_syncs_.Apply(record);
    if (!record.has_state()) continue;
    epoch_ = Epoch(record.state().epoch());
    prepared_ = record.state().prepared();
    fastest_before_ = Iteration(record.state().fastest());
    resumed_from_ = record.state().resumed_from();
    lacking_ = {record.state().lost(), record.state().torn()};
    ended_lives_.Apply(record.state());
    over_ = record.state().over();
    outcome_ = StatusFromWire(record.state().code(), record.state().message());
  }
  over_before_ = over_;
  if (tables_.switched()) synced_at_ = epoch_;  // who has it is to be heard anew
  if (over_) {
    env_.log.Write(
        LogLevel::kInfo,
        fmt::format("the log {} says that this job is over: {} (another one needs a folder of its own)",
                    log_->path(), outcome_.ToString()));
    return Status::Ok();
  }
  env_.log.Write(LogLevel::kInfo, fmt::format("the job goes on from the log {}, with epoch {} and {} tables",
                                              log_->path(), epoch_.value(), tables_.all().size()));
  if (prepared_ && !options_.checkpoint.resume.empty()) {
    env_.log.Write(LogLevel::kInfo, fmt::format("it does not begin again from the checkpoint at {}",
                                                options_.checkpoint.resume));
  }
  return Status::Ok();
}

wire::pb::LoggedJob SchedulerNode::Core::StateOfJob() const {
  wire::pb::LoggedJob state;
  state.set_epoch(epoch_.value());
  state.set_prepared(prepared_);
  state.set_over(over_);
  state.set_code(static_cast<std::uint32_t>(outcome_.code()));
  state.set_message(ClippedMessage(outcome_.message()));
  // One that could not be read this time may be the next.
  state.set_lost(lacking_.lost);
  state.set_torn(lacking_.torn);
  ended_lives_.AddTo(state);
  if (!last_checkpoint_) state.set_resumed_from(resumed_from_);
  if (last_checkpoint_ && !last_checkpoint_->of_this_run) state.set_resumed_from(last_checkpoint_->folder);
  return state;
}

std::optional<SchedulerLog::Safety> SchedulerNode::Core::AddChanges(wire::pb::LogRecord& record) {
  const bool members = members_.AddChanges(record);
  const bool tables = tables_.AddChanges(record);
  const bool barriers = barriers_.AddChanges(record);
  const bool set_syncs = set_syncs_.AddChanges(record);
  const bool checkpoints = checkpoints_.AddChanges(record);
  const bool leases = pools_.AddChanges(record);
  wire::pb::LoggedJob state = StateOfJob();
  const bool job = state.SerializeAsString() != logged_.SerializeAsString();
  if (job) {
    logged_ = state;
    state.set_fastest(Fastest().value());
    *record.mutable_state() = std::move(state);
  }
  if (members || tables || barriers || checkpoints || set_syncs || job) return SchedulerLog::Safety::kPower;
  return leases ? std::optional(SchedulerLog::Safety::kProcess) : std::nullopt;
}

wire::pb::LogRecord SchedulerNode::Core::Snapshot() {
  // What has changed up to now is in it: not to be told once more.
  wire::pb::LogRecord changes;
  (void)AddChanges(changes);
  covered_ = inbound_.last_held();
  wire::pb::LogRecord record;
  record.set_whole(true);
  FillJob(options_.job, *record.mutable_job());
  *record.mutable_state() = StateOfJob();
  record.mutable_state()->set_fastest(Fastest().value());
  members_.AddAll(record);
  tables_.AddAll(record);
  barriers_.AddAll(record);
  pools_.AddAll(record);
  checkpoints_.AddAll(record);
  set_syncs_.AddAll(record);
  return record;
}

void SchedulerNode::Core::CommitSoon() {
  if (log_ == nullptr || commit_timer_ != TimerId{}) return;
  commit_timer_ = env_.timers.After(Duration::zero(), [this] {
    commit_timer_ = {};
    Commit();
  });
}

void SchedulerNode::Core::Commit() {
  if (log_ == nullptr || finished_ || log_->busy()) return;  // OnWritten looks again
  if (!log_read_)
    return inbound_.Release(inbound_.last_held());  // refusals: there is nothing else to say yet
  if (LW_MUTATED(announce_first)) inbound_.Release(inbound_.last_held());
  wire::pb::LogRecord record;
  const std::optional<SchedulerLog::Safety> safety = AddChanges(record);
  covered_ = inbound_.last_held();
  if (safety) return log_->Write(record, *safety);
  inbound_.Release(covered_);
  if (over_ && !lingers_) Linger();
}

void SchedulerNode::Core::OnWritten() {
  inbound_.Release(covered_);
  Commit();
}

void SchedulerNode::Core::OnGivenUp(const Status& why) {
  // What waits depends on changes that nobody may hear of. The end alone is told, though it is in no log.
  inbound_.EndHold(true);
  env_.timers.Cancel(std::exchange(commit_timer_, {}));
  log_.reset();  // it has called this last
  if (!over_) return Finish(why);
  for (const auto& [id, peer] : peers_) SendJobEnd(id);
  Linger();
}

}  // namespace leeway
