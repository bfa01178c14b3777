// LoopSeat: which thread runs an event loop now.
//
// A loop has a thread of its own. But one who waits for an outcome would only sleep until that thread has
// sent, received and woken it: two changes of thread for nothing, where it could send and receive itself. So
// such a thread may be a *guest*: it asks for the seat, runs the loop until it has what it wanted, and
// leaves. The own thread sleeps meanwhile, and a little longer: who has waited once often waits again soon,
// and finds the seat free then (lent) without waking anybody.
//
//   own:  running -> (wanted: Lend) -> asleep -> (called home, or no guest came for a while) -> running
//
// While the seat is free nobody looks at the sockets. So the own thread looks now and then whether it is: a
// seat that nobody comes back to within 100 microseconds is its own again. With the time until it looks that
// is 1 ms after guests that come now and then, up to `park_max` after those that came all the time. If there
// are calls then that nobody had made, the callers were not going to wait, and lending had only held them up:
// it is not done again for a number of times, twice as many with each. Whoever must not wait for that takes
// it back (CallHome).
//
// Thread rule: as said with each call. What one thread did in the seat is seen by the next one in it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

namespace leeway {

class LoopSeat {
 public:
  using Nanoseconds = std::chrono::nanoseconds;
  struct Options {
    // How long the own thread sleeps before it looks whether guests still come; twice as long each time they
    // did.
    Nanoseconds park_min = std::chrono::milliseconds(1);
    Nanoseconds park_max = std::chrono::milliseconds(16);
    // How long a guest waits for the own thread to finish what it is at.
    Nanoseconds enter_max = std::chrono::milliseconds(1);
    std::uint32_t refusals_max = 1024;
    // After a guest that was not the only one who waits: the own thread serves many better.
    std::uint32_t crowd_refusals = 64;
  };

  LoopSeat() : LoopSeat(Options()) {}
  explicit LoopSeat(const Options& options) : options_(options) {}

  // The own thread, in the seat: whether a guest waits for it.
  [[nodiscard]] bool wanted() const { return word_.load(std::memory_order_relaxed) == kWanted; }
  // The own thread, in the seat: lets guests have it, and sleeps until it is its own again. `has_calls` says
  // whether calls wait to be made.
  void Lend(const std::function<bool()>& has_calls);
  // The own thread, in the seat: nobody will sit in it any more.
  void Close() { Set(kClosed); }

  // A guest: true if it sits in it now. `wake` makes the own thread look at wanted() soon.
  [[nodiscard]] bool Enter(const std::function<void()>& wake);
  // The guest in it: leaves it free, or to the own thread if there is something to do; `crowd`: because
  // others wait as well.
  void Leave(bool to_own, bool crowd = false);
  // Any thread: the own thread has something to do. Takes back what is free; a guest gives it back when it
  // leaves.
  void CallHome();

 private:
  enum State : std::uint32_t {
    kOwn,     // the own thread sits in it
    kWanted,  // the same, and a guest sleeps until it does not
    kLent,    // free, the own thread sleeps
    kGuest,   // a guest sits in it, the own thread sleeps
    kCalled,  // the same, but it goes back to the own thread
    kClosed
  };
  // And wakes who sleeps until it changes.
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
