#include "node/scheduler/folder_lock.h"

#include <fmt/format.h>

#include <utility>

#include "base/errors.h"
#include "checkpoint/layout.h"
#include "leeway/storage.h"

namespace leeway {
namespace {

constexpr Duration kAskAgain = std::chrono::milliseconds(100);

}  // namespace

FolderLock::~FolderLock() {
  *here_ = false;
  env_.timers.Cancel(retry_timer_);
}

FolderLock::Done FolderLock::IfHere(Done then) {
  return [here = here_, then = std::move(then)](const Status& status) {
    if (*here) then(status);
  };
}

void FolderLock::Take(const std::string& folder, Done done) { Ask(folder, env_.clock.Now() + wait_, done); }

void FolderLock::Ask(const std::string& folder, TimePoint until, const Done& done) {
  env_.storage.Lock(JoinPath(folder, kCheckpointsLockName),
                    IfHere([this, folder, until, done](const Status& locked) {
                      if (locked.code() != StatusCode::kFailedPrecondition || env_.clock.Now() >= until) {
                        return Answer(folder, locked, done);
                      }
                      retry_timer_ = env_.timers.After(kAskAgain, [this, folder, until, done] {
                        retry_timer_ = {};
                        Ask(folder, until, done);
                      });
                    }));
}

void FolderLock::Answer(const std::string& folder, const Status& status, const Done& done) {
  if (status.code() == StatusCode::kResourceExhausted) {
    env_.log.Write(LogLevel::kWarning,
                   fmt::format("the checkpoint folder {} cannot be locked: {}; make sure that no other job "
                               "uses it, since each would remove the other's checkpoints",
                               folder, status.message()));
  } else if (!status.ok()) {
    return done(
        Status(status.code(), fmt::format("the checkpoint folder {}, which one job has at a time: {}; "
                                          "wait for that job's end or end it, or give this one "
                                          "another --checkpoint-dir",
                                          folder, status.message())));
  }
  taken_ = true;
  done(Status::Ok());
}

void FolderLock::CheckNobodyWrites(const std::string& folder, Done done) {
  env_.storage.CheckUnlocked(
      JoinPath(folder, kCheckpointsLockName),
      IfHere([folder, done = std::move(done)](const Status& unlocked) {
        if (unlocked.ok()) return done(unlocked);
        done(Status(unlocked.code(),
                    fmt::format("the folder {}: {}; a job that writes there may remove the checkpoint: wait "
                                "for that job's end, or copy the checkpoint to another folder and resume "
                                "from there",
                                folder, unlocked.message())));
      }));
}

}  // namespace leeway
