#include "node/scheduler/scheduler_log.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/errors.h"
#include "checkpoint/layout.h"
#include "node/seconds.h"

namespace leeway {
namespace {

// Tables of half a million blocks, each with a file to be restored from, are below this.
constexpr std::uint64_t kLogBytesMax = 1ULL << 30;
constexpr Duration kRetryMin = std::chrono::milliseconds(20);
constexpr Duration kRetryMax = std::chrono::seconds(1);

std::vector<Pinned> Lent(std::vector<std::byte> bytes) {
  // Shared: the storage holds the bytes for as long as it needs them.
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {Pinned{*owner, owner}};
}

}  // namespace

SchedulerLog::SchedulerLog(Env& env, const std::string& folder, std::string job, Duration limit,
                           SchedulerLogEvents& events)
    : env_(env),
      folder_(folder),
      path_(JoinPath(folder, kLogName)),
      temp_(JoinPath(folder, kLogTempName)),
      job_(std::move(job)),
      limit_(limit),
      events_(events) {}

SchedulerLog::~SchedulerLog() {
  *here_ = false;
  env_.timers.Cancel(retry_timer_);
  env_.timers.Cancel(limit_timer_);
}

SchedulerLog::Done SchedulerLog::IfHere(Done then) {
  return [here = here_, then = std::move(then)](const Status& status) {
    if (*here) then(status);
  };
}

void SchedulerLog::Read(std::function<void(Result<std::optional<DecodedLog>>)> done) {
  const auto locked = std::make_shared<Status>();  // shared by the answers
  env_.storage.Lock(JoinPath(folder_, kLogLockName), [locked](const Status& status) { *locked = status; });
  env_.storage.Read(
      path_, 0, kLogBytesMax + 1,
      [this, here = here_, locked, done = std::move(done)](const Result<std::vector<std::byte>>& read) {
        if (!*here) return;
        if (!locked->ok()) {
          return done(locked->WithContext(fmt::format(
              "the folder {} of the scheduler's log, which is one scheduler's at a time", folder_)));
        }
        if (!read.ok() && read.status().code() == StatusCode::kNotFound) {
          return done(std::optional<DecodedLog>());
        }
        if (!read.ok()) return done(read.status().WithContext("the scheduler's log"));
        if (read->size() > kLogBytesMax) {
          return done(
              ResourceExhausted("the scheduler's log {} is larger than {} bytes", path_, kLogBytesMax));
        }
        Result<DecodedLog> log = DecodeLog(*read);
        if (!log.ok()) return done(log.status().WithContext(fmt::format("the scheduler's log {}", path_)));
        if (!log->torn.empty()) {
          env_.log.Write(
              LogLevel::kWarning,
              fmt::format("the end of the scheduler's log {} is torn, {} bytes of it are not used: {}", path_,
                          read->size() - log->bytes, log->torn));
        }
        done(std::optional(*std::move(log)));
      });
}

void SchedulerLog::Write(const wire::pb::LogRecord& record, Safety safety) {
  LW_CHECK(!busy_);
  busy_ = true;
  backoff_ = kRetryMin;
  limit_timer_ = env_.timers.After(limit_, [this] {
    limit_timer_ = {};
    GiveUp();
  });
  const std::uint64_t grown = std::min(std::max(kGrownBytes, kGrowth * began_as_), kLogBytesMax / 2);
  if (anew_ || bytes_ >= grown) return Rewrite();
  std::vector<std::byte> bytes = EncodeLogRecord(record, synced_);
  bytes_ += bytes.size();
  if (safety == Safety::kProcess) {
    return env_.storage.Append(path_, Lent(std::move(bytes)), IfHere([this](const Status& appended) {
                                 return appended.ok() ? Succeed() : Fail(appended);
                               }));
  }
  const auto first = std::make_shared<Status>();  // shared by the answers: the first error
  env_.storage.Append(path_, Lent(std::move(bytes)), [first](const Status& appended) { *first = appended; });
  env_.storage.Sync(path_, IfHere([this, first](const Status& synced) {
                      if (!first->ok() || !synced.ok()) return Fail(first->ok() ? synced : *first);
                      synced_ = bytes_;
                      Succeed();
                    }));
}

void SchedulerLog::Rewrite() {
  anew_ = true;
  std::vector<std::byte> bytes = EncodeLogHeader(job_);
  const std::vector<std::byte> record = EncodeLogRecord(events_.Snapshot(), 0);
  bytes.insert(bytes.end(), record.begin(), record.end());
  const std::uint64_t size = bytes.size();
  if (size > kLogBytesMax) {
    return Fail(ResourceExhausted("it would have {} bytes, wanted at most {}", size, kLogBytesMax));
  }
  const auto first = std::make_shared<Status>();  // shared by the answers: the first error
  const auto note = [first](const Status& status) {
    if (first->ok()) *first = status;
  };
  env_.storage.Remove(temp_, note);  // of a start that was cut short
  env_.storage.Create(temp_, Lent(std::move(bytes)), note);
  env_.storage.Sync(temp_, IfHere([this, size, first](const Status& synced) {
                      if (!first->ok() || !synced.ok()) return Fail(first->ok() ? synced : *first);
                      Publish(size);
                    }));
}

// The file with the new record is safe under its other name.
void SchedulerLog::Publish(std::uint64_t bytes) {
  const auto first = std::make_shared<Status>();  // shared by the answers: the first error
  env_.storage.Rename(temp_, path_, [first](const Status& renamed) { *first = renamed; });
  // The folder may be new. Its name is in the parent folder, which this process may not be allowed to sync.
  env_.storage.SyncFolder(FolderOf(folder_), [](const Status&) {});
  env_.storage.SyncFolder(folder_, IfHere([this, bytes, first](const Status& synced) {
                            if (!first->ok() || !synced.ok()) return Fail(first->ok() ? synced : *first);
                            anew_ = false;
                            bytes_ = synced_ = began_as_ = bytes;
                            Succeed();
                          }));
}

void SchedulerLog::Succeed() {
  if (!busy_) return;  // given up
  if (!failure_.ok())
    env_.log.Write(LogLevel::kInfo, fmt::format("the scheduler's log {} can be written again", path_));
  failure_ = {};
  busy_ = false;
  env_.timers.Cancel(std::exchange(limit_timer_, {}));
  events_.OnWritten();
}

void SchedulerLog::Fail(const Status& why) {
  if (!busy_) return;
  if (failure_.ok()) {
    env_.log.Write(LogLevel::kError,
                   fmt::format("the scheduler's log {} cannot be written: {}; until it can, nothing that "
                               "changes the job goes on, for at most {:.1f} s",
                               path_, why.message(), Seconds(limit_)));
  }
  failure_ = why;
  retry_timer_ = env_.timers.After(backoff_, [this] {
    retry_timer_ = {};
    Rewrite();
  });
  backoff_ = std::min(backoff_ * 2, kRetryMax);
}

void SchedulerLog::GiveUp() {
  busy_ = false;
  env_.timers.Cancel(std::exchange(retry_timer_, {}));
  events_.OnGivenUp(Unavailable("the scheduler's log {} could not be written for {:.1f} s: {}", path_,
                                Seconds(limit_),
                                failure_.ok() ? "the disk does not answer" : failure_.message()));
}

}  // namespace leeway
