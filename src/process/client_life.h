// ClientLife: whether a worker may still be called, and how it failed.
//
// It ends in a forked child, with the failure of the node, and with Shutdown; a worker that has left may only
// pull. Thread rule: the node's thread calls OnFailing and OnFailed, the user's threads the rest.
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "base/errors.h"
#include "leeway/ids.h"
#include "leeway/status.h"
#include "transport/system/fork_guard.h"

namespace leeway {

class ClientLife {
 public:
  // The checks at the start of every call: not forked; CheckAlive: also not failed, not shut down;
  // CheckMember: also not left.
  [[nodiscard]] Status CheckFork() const {
    if (!fork_.forked()) return Status::Ok();
    return FailedPrecondition(
        "this worker belongs to process {}, its parent: a forked child (process {}) cannot use it",
        fork_.pid(), getpid());
  }
  [[nodiscard]] Status CheckAlive() const {
    LW_RETURN_IF_ERROR(CheckFork());
    if (failed()) {
      const std::lock_guard lock(mutex_);
      return failure_;
    }
    return stopped_ ? FailedPrecondition("the worker was shut down") : Status::Ok();
  }
  [[nodiscard]] Status CheckMember() const {
    LW_RETURN_IF_ERROR(CheckAlive());
    if (!left_) return Status::Ok();
    return FailedPrecondition("worker {} has left the job: it may only pull now", left_->value());
  }
  [[nodiscard]] bool forked() const { return fork_.forked(); }
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_acquire); }
  [[nodiscard]] bool left() const { return left_.has_value(); }
  // Returns whether this process has a node that runs. A failed node still runs.
  [[nodiscard]] bool HasNode() const { return !fork_.forked() && !stopped_; }

  void SetLeft(WorkerId rank) { left_ = rank; }
  void SetStopped() { stopped_ = true; }

  // The node fails, and then every pending callback hears of it: OnFailed comes after the last one.
  void OnFailing(const Status& why) {
    const std::lock_guard lock(mutex_);
    failure_ = why;
    failed_ = true;
  }
  void OnFailed() {
    const std::lock_guard lock(mutex_);
    settled_ = true;
    settled_changed_.notify_all();
  }
  // Waits for OnFailed.
  void WaitUntilFailed(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    settled_changed_.wait_for(lock, limit, [this] { return settled_; });
  }

 private:
  const ForkGuard fork_;
  std::optional<WorkerId> left_;
  std::atomic<bool> stopped_{false};
  std::atomic<bool> failed_{false};
  mutable std::mutex mutex_;  // everything below
  std::condition_variable settled_changed_;
  Status failure_;
  bool settled_ = false;  // every pending callback has heard of it
};

}  // namespace leeway
