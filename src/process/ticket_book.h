// TicketBook: the outcomes of asynchronous calls, and the threads that wait for them. Thread-safe.
//
// Outcomes that nobody asks for are kept up to a limit; beyond it the oldest are forgotten.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
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
  void Finish(Ticket ticket, const Status& outcome);
  // Every ticket without an outcome, now and later, gets `why`.
  void FinishAll(const Status& why);

  struct Limits {
    std::chrono::milliseconds warn_after;
    std::chrono::milliseconds give_up_after;
  };
  // Waits for the outcome and forgets it. After warn_after calls `warn` once; after give_up_after, or when
  // `stop` (asked now and then, on this thread) says so, returns nothing, and the ticket stays. kNotFound for
  // 0, unknown and forgotten tickets.
  [[nodiscard]] std::optional<Status> Wait(Ticket ticket, const Limits& limits,
                                           const std::function<void()>& warn,
                                           const std::function<bool()>& stop = {});
  // Nobody will ask for this one.
  void Forget(Ticket ticket);
  [[nodiscard]] bool Done(Ticket ticket) const;

 private:
  struct Entry {
    std::optional<Status> outcome;
    bool forgotten = false;
  };

  const std::size_t kept_max_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t waiting_ = 0;
  Ticket last_ = 0;
  std::unordered_map<Ticket, Entry> entries_;
  std::deque<Ticket> finished_;  // in the order of their ends; may hold some that are gone
  Status all_;                   // not ok: what FinishAll gave
};

}  // namespace leeway
