// CallQueue: calls from the user's threads to the node's, bounded, woken through an eventfd.
//
// One wake-up serves many calls: the descriptor is written only when the node has not been signalled already.
// Push from any thread; RunAll on the node's.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "leeway/status.h"

namespace leeway {

class CallQueue {
 public:
  explicit CallQueue(std::size_t max);
  ~CallQueue();
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  // Readable when there are calls.
  [[nodiscard]] int fd() const { return fd_; }
  // Waits at most `limit` while the queue is full. An error: the call will not be made.
  [[nodiscard]] Status Push(std::function<void()> call, std::chrono::milliseconds limit);
  // Makes every call that was queued.
  void RunAll();
  // From now on Push fails with `why`, and what is queued is dropped.
  void Close(const Status& why);

 private:
  const std::size_t max_;
  const int fd_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::vector<std::function<void()>> calls_;
  bool signalled_ = false;
  Status closed_;
  std::vector<std::function<void()>> running_;  // of RunAll; kept to reuse its memory
};

}  // namespace leeway
