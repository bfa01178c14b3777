// UserWaits: tells the worker's node whether a thread of the user waits in a call.
//
// The user's threads enter and leave, the node's thread asks. NodeCalls owns it.
#pragma once

#include <atomic>
#include <thread>

#include "leeway/worker.h"

namespace leeway {

class UserWaits {
 public:
  // The calling thread waits for the ticket. `trains` is false while the worker joins, because another thread
  // than the training one may join.
  void Enter(Ticket ticket, bool trains) {
    newest_.store(ticket, std::memory_order_relaxed);
    inside_.fetch_add(1, std::memory_order_relaxed);
    if (!trains) return;
    std::thread::id first;
    const std::thread::id self = std::this_thread::get_id();
    if (!first_.compare_exchange_strong(first, self, std::memory_order_relaxed) && first != self)
      several_.store(true, std::memory_order_relaxed);
  }
  void Leave() { inside_.fetch_sub(1, std::memory_order_relaxed); }

  // Returns whether a thread waits. `ended(ticket)`: the call has ended, and its thread may not have noticed
  // yet.
  template <typename Ended>
  [[nodiscard]] bool AnyWaits(Ended ended) const {
    // Of several threads, the one with the newest ticket may not be the one that waits.
    return inside_.load(std::memory_order_relaxed) > 0 &&
           (SeveralWaited() || !ended(newest_.load(std::memory_order_relaxed)));
  }
  // Returns whether more than one thread has ever waited. Then one may compute while another waits.
  [[nodiscard]] bool SeveralWaited() const { return several_.load(std::memory_order_relaxed); }

 private:
  std::atomic<Ticket> newest_{0};
  std::atomic<int> inside_{0};
  std::atomic<std::thread::id> first_{};
  std::atomic<bool> several_{false};
};

}  // namespace leeway
