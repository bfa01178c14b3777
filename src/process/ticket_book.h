// TicketBook: the outcomes of asynchronous calls, and the threads that wait for them. Thread-safe.
//
// The book keeps outcomes that no thread asks for up to a limit; beyond it, it forgets the oldest. It never
// forgets calls under way, nor an outcome that a thread waits for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "leeway/status.h"
#include "leeway/worker.h"

namespace leeway {

class TicketBook {
 public:
  explicit TicketBook(std::size_t kept_max) : kept_max_(kept_max) {}

  [[nodiscard]] Ticket New();
  // Ends the call; a second end changes nothing. The threads that wait for it sleep until WakeFinished.
  void Finish(Ticket ticket, const Status& outcome);
  // Wakes the threads that wait for finished calls, each once for all that have finished.
  void WakeFinished();
  // Every ticket without an outcome, now and later, gets `why`.
  void FinishAll(const Status& why);

  // Returns the outcome, if it is there, and forgets it. nullopt while the call is under way. kNotFound for
  // 0, unknown and forgotten tickets.
  [[nodiscard]] std::optional<Status> Take(Ticket ticket);

  struct Limits {
    std::chrono::milliseconds warn_after;
    std::chrono::milliseconds give_up_after;
  };
  // Waits until Take returns an outcome. After warn_after it calls `warn` once. After give_up_after, or when
  // `stop` (asked now and then, on this thread) returns true, it returns nullopt and keeps the ticket.
  [[nodiscard]] std::optional<Status> Wait(Ticket ticket, const Limits& limits,
                                           const std::function<void()>& warn,
                                           const std::function<bool()>& stop = {});
  // No thread will ask for this ticket.
  void Forget(Ticket ticket);
  // No thread will ask for this ticket, and its call was never begun.
  void Drop(Ticket ticket);
  [[nodiscard]] bool Done(Ticket ticket) const;

 private:
  using Clock = std::chrono::steady_clock;

  struct Call {
    bool done = false;
    bool forgotten = false;                 // no thread will ask
    int waiting = 0;                        // threads
    Status outcome = {};                    // once it is done, as the next one
    std::list<Ticket>::iterator kept = {};  // its place in kept_
  };

  // Waits until the call is done, or until the time.
  [[nodiscard]] std::optional<Status> TakeBy(Ticket ticket, Clock::time_point until);
  void AddWaiting(Ticket ticket, int threads);
  // REQUIRES, here and below: mutex_.
  [[nodiscard]] std::optional<Status> TakeNow(Ticket ticket);
  [[nodiscard]] bool IsDone(Ticket ticket) const;
  void End(Ticket ticket, Call& call, const Status& outcome);

  const std::size_t kept_max_;
  mutable std::mutex mutex_;  // everything below
  std::condition_variable done_;
  Ticket last_ = 0;
  std::unordered_map<Ticket, Call> calls_;
  bool awaited_ = false;    // threads sleep whose calls have finished
  std::list<Ticket> kept_;  // calls that are done, the oldest first
  Status all_;              // what FinishAll gave
};

}  // namespace leeway
