// EndLatch: tells waiting threads that all nodes of a group have ended, and with which status. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/errors.h"
#include "leeway/status.h"

namespace leeway {

class EndLatch {
 public:
  explicit EndLatch(std::size_t nodes) : left_(nodes) {}

  // One node has ended. The first error counts.
  void End(const Status& status) {
    const std::lock_guard lock(mutex_);
    if (first_.ok()) first_ = status;
    if (left_ > 0) --left_;
    changed_.notify_all();
  }
  // The status, once all have ended; kDeadlineExceeded if that takes longer than `limit`.
  [[nodiscard]] Status Wait(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, limit, [this] { return left_ == 0; })) return first_;
    return DeadlineExceeded("{} nodes have not ended within {} ms", left_, limit.count());
  }
  [[nodiscard]] bool ended() {
    const std::lock_guard lock(mutex_);
    return left_ == 0;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t left_;
  Status first_;
};

}  // namespace leeway
