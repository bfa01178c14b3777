// CallQueue: calls from the user's threads to the node's, in one order, bounded.
//
// The queue asks the node's thread once for all calls that it holds, so a caller that is ahead costs the node
// one task for many calls. Thread rule: any thread calls Push and Close, the node's included; only the node's
// thread calls MakeAll.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <vector>

#include "leeway/status.h"
#include "process/call.h"

namespace leeway {

class CallQueue {
 public:
  // At most `max` calls wait. REQUIRES: `maker` outlives it.
  CallQueue(std::size_t max, CallMaker& maker) : max_(max), maker_(maker) {}
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  // Waits at most `limit` while the queue is full. On an error the call will not be made. The node's own
  // thread cannot wait for itself: it may queue `max` more.
  [[nodiscard]] Status Push(Call&& call, std::chrono::milliseconds limit);
  // Makes every call that was queued when it began.
  void MakeAll();
  // From now on Push fails with `why`, and the queued calls are dropped. No MakeAll follows, and the maker is
  // not called any more.
  void Close(const Status& why);

 private:
  const std::size_t max_;
  CallMaker& maker_;

  std::mutex mutex_;  // everything below
  std::condition_variable room_;
  std::vector<Call> calls_;
  Status why_closed_;
};

}  // namespace leeway
