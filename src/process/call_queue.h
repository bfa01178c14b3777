// CallQueue: calls from the user's threads to the node's, in one order, bounded.
//
// The queue asks the node's thread once for all calls that it holds, so a caller that is ahead costs the node
// one task for many calls. Thread rule: any thread calls Push and Close, the node's included; only the node's
// thread calls MakeAll.
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
  using Call = std::function<void()>;

  // The node as its queue sees it.
  class Node {
   public:
    virtual ~Node() = default;
    // Any thread: whether the calling thread is the node's.
    [[nodiscard]] virtual bool OnNodeThread() const = 0;
    // Any thread: the node's thread shall call MakeAll soon. Must not block, nor call the queue.
    virtual void AskForMakeAll() = 0;
    // The node's thread: calls are made between these two.
    virtual void BeginCalls() = 0;
    virtual void EndCalls() = 0;
  };

  // At most `max` calls wait. REQUIRES: `node` outlives it.
  CallQueue(std::size_t max, Node& node) : max_(max), node_(node) {}
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  // Waits at most `limit` while the queue is full. On an error the call will not be made. The node's own
  // thread cannot wait for itself: it may queue `max` more.
  [[nodiscard]] Status Push(Call call, std::chrono::milliseconds limit);
  // Makes every call that was queued when it began.
  void MakeAll();
  // From now on Push fails with `why`, and the queued calls are dropped. No MakeAll follows, and the node is
  // not asked any more.
  void Close(const Status& why);

 private:
  const std::size_t max_;
  Node& node_;

  std::mutex mutex_;  // everything below
  std::condition_variable room_;
  std::vector<Call> calls_;
  Status why_closed_;
};

}  // namespace leeway
