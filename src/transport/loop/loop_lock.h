// LoopLock: held by the thread that runs an event loop now.
//
// A loop has a thread of its own. A caller that waits for an outcome would sleep until that thread has sent,
// received and woken it: two changes of thread for nothing. So the caller may be a *guest*: it acquires the
// lock, runs the loop until it has its outcome, and releases the lock. The own thread sleeps meanwhile, and a
// little longer: a guest often waits again soon, and then finds the lock free (lent) without a wake-up.
//
//   own:  running -> (wanted: Lend) -> asleep -> (reclaimed, or no guest came for a while) -> running
//
// While the lock is free no thread polls the sockets. So the own thread checks now and then, and takes back a
// lock that no guest acquires within 100 microseconds. Until it checks, 1 ms pass after rare guests, and up
// to `park_max` after frequent ones. If it then finds calls that nobody has begun, their callers did not
// wait, and lending has only delayed them: the lock refuses the next guests, twice as many each time. A
// thread that must not wait for all that calls Reclaim.
//
// Thread rule: as said with each call. The next holder sees all writes of the one before.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

namespace leeway {

class LoopLock {
 public:
  using Nanoseconds = std::chrono::nanoseconds;
  struct Options {
    // How long the own thread sleeps before it checks whether guests still come; doubles each time they did.
    Nanoseconds park_min = std::chrono::milliseconds(1);
    Nanoseconds park_max = std::chrono::milliseconds(16);
    // How long a guest waits for the own thread to finish its turn.
    Nanoseconds acquire_max = std::chrono::milliseconds(1);
    std::uint32_t refusals_max = 1024;
    // After a guest while other threads wait too: the own thread serves many better.
    std::uint32_t crowd_refusals = 64;
  };

  LoopLock() : LoopLock(Options()) {}
  explicit LoopLock(const Options& options) : options_(options) {}

  // The own thread, as holder: whether a guest waits for the lock.
  [[nodiscard]] bool wanted() const { return word_.load(std::memory_order_relaxed) == kWanted; }
  // The own thread, as holder: lends the lock to guests, and sleeps until it holds it again. `has_calls` says
  // whether calls wait that nobody has begun.
  void Lend(const std::function<bool()>& has_calls);
  // The own thread, as holder: no thread can acquire the lock any more.
  void Close() { Set(kClosed); }

  // A guest: true if it holds the lock now. `wake` makes the own thread look at wanted() soon.
  [[nodiscard]] bool Acquire(const std::function<void()>& wake);
  // The guest that holds it: leaves it free, or hands it to the own thread if there is work; `crowd`: because
  // other threads wait as well.
  void Release(bool to_own, bool crowd = false);
  // Any thread: there is work for the own thread. Takes a free lock back; a guest hands it back when it
  // releases it.
  void Reclaim();

 private:
  enum State : std::uint32_t {
    kOwn,        // the own thread holds it
    kWanted,     // the same, and a guest sleeps until it is lent
    kLent,       // free, the own thread sleeps
    kGuest,      // a guest holds it, the own thread sleeps
    kReclaimed,  // the same, but it goes back to the own thread
    kClosed
  };
  // Wakes the threads that sleep until it changes.
  void Set(State state);
  // Of the own thread: changes kLent to kOwn.
  bool TakeBack();

  const Options options_;
  std::atomic<std::uint32_t> word_{kOwn};
  std::atomic<std::uint32_t> visits_{0};    // of guests
  std::atomic<std::uint32_t> refusals_{0};  // to go before a guest is let in again
  std::uint32_t next_refusals_ = 0;         // of the own thread
};

}  // namespace leeway
