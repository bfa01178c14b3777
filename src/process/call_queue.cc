#include "process/call_queue.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "base/check.h"
#include "base/errors.h"

namespace leeway {

CallQueue::CallQueue(std::size_t max) : max_(max), fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  LW_CHECK(fd_ >= 0, "no eventfd");
}

CallQueue::~CallQueue() { close(fd_); }

Status CallQueue::Push(std::function<void()> call, std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  const bool has_room = room_.wait_for(lock, limit, [this] { return calls_.size() < max_ || !closed_.ok(); });
  if (!closed_.ok()) return closed_;
  if (!has_room) {
    return ResourceExhausted(
        "{} calls wait for the worker's I/O thread, at most {} may (waited {} ms for room)", calls_.size(),
        max_, limit.count());
  }
  calls_.push_back(std::move(call));
  if (std::exchange(signalled_, true)) return Status::Ok();
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof(one));  // cannot fail: the count is 0 or 1
  return Status::Ok();
}

void CallQueue::RunAll() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = read(fd_, &count, sizeof(count));
  {
    const std::lock_guard lock(mutex_);
    std::swap(running_, calls_);
    signalled_ = false;
  }
  if (running_.size() >= max_) room_.notify_all();
  for (const std::function<void()>& call : running_) call();
  running_.clear();
}

void CallQueue::Close(const Status& why) {
  std::vector<std::function<void()>> dropped;
  const std::lock_guard lock(mutex_);
  if (closed_.ok()) closed_ = why;
  std::swap(dropped, calls_);
  room_.notify_all();
}

}  // namespace leeway
